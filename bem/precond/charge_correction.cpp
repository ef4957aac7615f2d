#include "fmbem/bem/precond/charge_correction.hpp"

#include <algorithm>

namespace fmbem {

ChargeCorrection::ChargeCorrection(const MixedPlaces& places, const MixedRows& rows,
                                   const ClusterTree& tree) {
  if (rows.equations.empty()) return;
  area_at_.resize(tree.size());
  charge_area_at_.resize(tree.size());
  for (const Cluster& node : tree.nodes) {
    if (!node.is_panel()) continue;
    area_at_[node.begin] = node.area;
    charge_area_at_[node.begin] = charge_weight(rows, tree.panel(node.begin)) * node.area;
  }
  for (const MixedPlaces::Part& part : places.parts) {
    parts_.push_back({part.begin, part.end, 0});
    for (std::int32_t place = part.begin; place < part.end; ++place)
      parts_.back().weight2_area +=
          charge_area_at_[place] * charge_area_at_[place] / area_at_[place];
  }
  for (const ChargeEquation& equation : rows.equations) {
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

double ChargeCorrection::sum_over(const Part& part, const ClusterTree& tree,
                                  const std::vector<double>& values, const double* x) const {
  double sum = 0;
  for (std::int32_t place = part.begin; place < part.end; ++place)
    sum += values[place] * x[tree.panel(place)];
  return sum;
}

void ChargeCorrection::apply(const ClusterTree& tree, const double* x, double* y) const {
  const auto n_parts = static_cast<std::int32_t>(parts_.size());
  std::vector<double> right(n_parts), charge(n_parts), change(n_parts, 0.0);
#pragma omp parallel for schedule(dynamic)
  for (std::int32_t p = 0; p < n_parts; ++p) {
    right[p] = sum_over(parts_[p], tree, area_at_, x);
    charge[p] = sum_over(parts_[p], tree, charge_area_at_, y);
  }
  for (const Equation& equation : equations_) {
    double missing = right[equation.part] - charge[equation.part],
           of_change = parts_[equation.part].weight2_area;
    for (const Other& other : equation.others) {
      missing -= other.factor * charge[other.part];
      if (other.is_free) of_change += other.factor * other.factor * parts_[other.part].weight2_area;
    }
    const auto add = [&](std::int32_t part, double t) {
      change[part] += t;
      charge[part] += t * parts_[part].weight2_area;
    };
    add(equation.part, missing / of_change);
    for (const Other& other : equation.others)
      if (other.is_free) add(other.part, other.factor * missing / of_change);
  }
#pragma omp parallel for schedule(dynamic)
  for (std::int32_t p = 0; p < n_parts; ++p)
    for (std::int32_t place = parts_[p].begin; place < parts_[p].end; ++place)
      y[tree.panel(place)] += change[p] * (charge_area_at_[place] / area_at_[place]);
}

}  // namespace fmbem
