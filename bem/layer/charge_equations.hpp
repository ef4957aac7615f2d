#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

/// Replaces means of b over parts, by area, as a right-hand side of charge equations has them: over
/// the part of equation e by charge(e, Σ_part A b) over the part's area. T is double or complex.
/// `equations`: any with a part; part, area, b: [n].
template <class T, class Equations, class Charge>
void set_charges(const Equations& equations, std::span<const std::int32_t> part,
                 std::span<const double> area, Charge&& charge, T* b) {
  if (equations.empty()) return;
  const std::int32_t parts = *std::max_element(part.begin(), part.end()) + 1;
  std::vector<T> sum(parts, T(0)), shift(parts, T(0));
  std::vector<double> part_area(parts, 0.0);
  for (std::size_t i = 0; i < part.size(); ++i) {
    sum[part[i]] += area[i] * b[i];
    part_area[part[i]] += area[i];
  }
  for (std::size_t e = 0; e < equations.size(); ++e) {
    const std::int32_t p = equations[e].part;
    shift[p] = (charge(e, sum[p]) - sum[p]) / part_area[p];
  }
  for (std::size_t i = 0; i < part.size(); ++i) b[i] += shift[part[i]];
}

/// The charge equations of mixed rows, applied to vectors in host memory.
class ChargeEquations {
 public:
  /// Throws InputError for parts that are missing, or have two equations.
  ChargeEquations(const Panels& panels, const MixedRows& rows);
  /// Of any unknowns with these areas.
  ChargeEquations(std::vector<double> area, const MixedRows& rows);

  bool empty() const { return equations_.empty(); }
  std::span<const ChargeEquation> all() const { return equations_; }
  std::span<const std::int32_t> part() const { return part_; }              ///< [n]
  std::span<const double> area() const { return area_; }                    ///< [n]
  std::span<const double> charge_weight() const { return charge_weight_; }  ///< [n]: w A
  std::span<const double> part_area() const { return part_area_; }          ///< [parts]

  /// Replaces the means of y, the rows' values at x. O(n).
  void replace_means(const double* x, double* y) const;
  /// The transpose: y += Cᵀ x and x = (1 − M)ᵀ x, where replace_means() is y = (1 − M) y + C x.
  void replace_means_transposed(double* x, double* y) const;
  /// fmbem::set_charges() of a right-hand side.
  template <class Charge>
  void set_charges(Charge&& charge, double* b) const {
    fmbem::set_charges(equations_, part_, area_, charge, b);
  }

 private:
  /// [parts]: the sum over each part of values times weights, which are 1 where there are none.
  std::vector<double> sums(const double* values, const double* weights) const;

  std::vector<ChargeEquation> equations_;
  std::vector<std::int32_t> part_;
  std::vector<std::int32_t> equation_of_;     ///< [parts], −1 for none
  std::vector<double> area_, charge_weight_;  ///< [n]: A, and w A
  std::vector<double> part_area_;             ///< [parts]
};

}  // namespace fmbem
