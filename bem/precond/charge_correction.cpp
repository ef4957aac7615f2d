#include "fmbem/bem/precond/charge_correction.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "fmbem/bem/layer/complex_rows.hpp"

namespace fmbem {
namespace {

double conjugate(double x) { return x; }
Complex conjugate(Complex x) { return std::conj(x); }

}  // namespace

template <class T>
BasicChargeCorrection<T>::BasicChargeCorrection(const MixedPlaces& places,
                                                const BasicMixedRows<T>& rows) {
  if (rows.equations.empty()) return;
  const auto n = static_cast<std::int64_t>(places.trees.panel.size());
  area_at_.resize(n);
  if (!rows.weight.empty()) charge_area_at_.resize(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t place = 0; place < n; ++place) {
    const std::int32_t i = places.trees.panel[place];
    area_at_[place] = (*places.area)[i];
    if (!rows.weight.empty()) charge_area_at_[place] = rows.weight[i] * area_at_[place];
  }
  for (const MixedPlaces::Part& part : places.parts)
    parts_.push_back({part.begin, part.end, part.weight2_area});
  for (const auto& equation : rows.equations) {
    Equation own{places.number_of[equation.part], {}};
    for (const auto& [other, factor] : equation.others) {
      const std::int32_t number = places.number_of[other];
      if (number < 0) continue;  // no panels
      own.others.push_back({number, factor, places.parts[number].equation < 0});
    }
    equations_.push_back(std::move(own));
  }
  // From the inside out: the charges inside of a part have to be right before its own.
  std::stable_sort(equations_.begin(), equations_.end(), [](const Equation& a, const Equation& b) {
    return a.others.size() < b.others.size();
  });
}

template <class T>
T BasicChargeCorrection<T>::sum_over(const Part& part, const ClusterTree& tree,
                                     const LargeVector<double>& values, const double* x) const {
  T sum(0);
  for (std::int32_t place = part.begin; place < part.end; ++place) {
    const double* const at = x + tree.panel(place);
    if constexpr (is_complex)
      sum += values[place] * T(at[0], at[tree.size()]);
    else
      sum += values[place] * *at;
  }
  return sum;
}

template <class T>
void BasicChargeCorrection<T>::apply(const ClusterTree& tree, const double* x, double* y) const {
  const auto n_parts = static_cast<std::int32_t>(parts_.size());
  std::vector<T> right(n_parts), charge(n_parts), change(n_parts, T(0));
#pragma omp parallel for schedule(dynamic)
  for (std::int32_t p = 0; p < n_parts; ++p) {
    right[p] = sum_over(parts_[p], tree, area_at_, x);
    charge[p] = sum_over(parts_[p], tree, charge_area_at(), y);
  }
  for (const Equation& equation : equations_) {
    T missing = right[equation.part] - charge[equation.part];
    double of_change = parts_[equation.part].weight2_area;
    for (const Other& other : equation.others) {
      missing -= other.factor * charge[other.part];
      if (other.is_free) of_change += std::norm(other.factor) * parts_[other.part].weight2_area;
    }
    const auto add = [&](std::int32_t part, T t) {
      change[part] += t;
      charge[part] += t * parts_[part].weight2_area;
    };
    add(equation.part, missing / of_change);
    for (const Other& other : equation.others)
      if (other.is_free) add(other.part, conjugate(other.factor) * missing / of_change);
  }
#pragma omp parallel for schedule(dynamic)
  for (std::int32_t p = 0; p < n_parts; ++p)
    for (std::int32_t place = parts_[p].begin; place < parts_[p].end; ++place) {
      double* const at = y + tree.panel(place);
      const T by = change[p] * (charge_area_at()[place] / area_at_[place]);
      *at += std::real(by);
      if constexpr (is_complex) at[tree.size()] += by.imag();
    }
}

template class BasicChargeCorrection<double>;
template class BasicChargeCorrection<Complex>;

}  // namespace fmbem
