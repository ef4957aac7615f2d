#include "fmbem/bem/layer/charge_equations.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

ChargeEquations::ChargeEquations(const Panels& panels, const MixedRows& rows)
    : ChargeEquations(rows.equations.empty() ? std::vector<double>{} : areas_of(panels), rows) {}

ChargeEquations::ChargeEquations(std::vector<double> area, const MixedRows& rows)
    : equations_(rows.equations), part_(rows.part), area_(std::move(area)) {
  const std::size_t n = area_.size();
  if (equations_.empty()) return;
  FMBEM_REQUIRE(part_.size() == n, "charge equations need the part of each of the "
                                       << n << " panels, not of " << part_.size());
  FMBEM_REQUIRE(rows.weight.empty() || rows.weight.size() == n,
                "there are " << rows.weight.size() << " weights of charges for " << n << " panels");
  const auto [least, most] = std::minmax_element(part_.begin(), part_.end());
  FMBEM_REQUIRE(*least >= 0, "parts of panels are counted from 0, not from " << *least);
  const std::int32_t parts = *most + 1;
  const auto check_part = [&](std::int32_t part) {
    FMBEM_REQUIRE(part >= 0 && part < parts,
                  "a charge equation is of part " << part << ", and there are " << parts);
  };
  equation_of_.assign(parts, -1);
  for (std::size_t e = 0; e < equations_.size(); ++e) {
    check_part(equations_[e].part);
    for (const ChargeEquation::Other& other : equations_[e].others) check_part(other.part);
    FMBEM_REQUIRE(std::exchange(equation_of_[equations_[e].part], e) < 0,
                  "part " << equations_[e].part << " has two charge equations");
  }
  charge_weight_ = area_;
  for (std::size_t i = 0; i < rows.weight.size(); ++i) charge_weight_[i] *= rows.weight[i];
  part_area_.assign(parts, 0.0);
  for (std::size_t i = 0; i < n; ++i) part_area_[part_[i]] += area_[i];
  for (std::int32_t p = 0; p < parts; ++p)
    FMBEM_REQUIRE(equation_of_[p] < 0 || part_area_[p] > 0,
                  "part " << p << " of a charge equation has no panel");
}

std::vector<double> ChargeEquations::sums(const double* values, const double* weights) const {
  std::vector<double> result(part_area_.size(), 0.0);
  for (std::size_t i = 0; i < part_.size(); ++i)
    result[part_[i]] += weights ? weights[i] * values[i] : values[i];
  return result;
}

void ChargeEquations::replace_means(const double* x, double* y) const {
  if (empty()) return;
  const std::vector<double> charge = sums(x, charge_weight_.data()), mean = sums(y, area_.data());
  std::vector<double> shift(part_area_.size(), 0.0);
  for (const ChargeEquation& equation : equations_) {
    double sum = charge[equation.part] - mean[equation.part];
    for (const auto& [part, factor] : equation.others) sum += factor * charge[part];
    shift[equation.part] = sum / part_area_[equation.part];
  }
  for (std::size_t i = 0; i < part_.size(); ++i)
    if (equation_of_[part_[i]] >= 0) y[i] += shift[part_[i]];
}

void ChargeEquations::replace_means_transposed(double* x, double* y) const {
  if (empty()) return;
  const std::vector<double> sum = sums(x, nullptr);
  std::vector<double> of_charge(part_area_.size(), 0.0);
  for (const ChargeEquation& equation : equations_) {
    const double mean = sum[equation.part] / part_area_[equation.part];
    of_charge[equation.part] += mean;
    for (const auto& [part, factor] : equation.others) of_charge[part] += factor * mean;
  }
  for (std::size_t i = 0; i < part_.size(); ++i) {
    const std::int32_t p = part_[i];
    y[i] += charge_weight_[i] * of_charge[p];
    if (equation_of_[p] >= 0) x[i] -= area_[i] * sum[p] / part_area_[p];
  }
}

}  // namespace fmbem
