#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem {

/// Replaces means of b over parts, by area, as a right-hand side of charge equations has them: over
/// the part of equation e by charge(e, Σ_part A b) over the part's area; then adds what shifts make
/// of rows, those of b alone as well. T is double or complex. `rows`: MixedRows or ComplexRows;
/// area, b: [n].
template <class T, class Rows, class Charge>
void set_charges(const Rows& rows, std::span<const double> area, Charge&& charge, T* b,
                 const std::vector<BasicPartShift<T>>& of_b_alone = {}) {
  if (rows.equations.empty() && rows.shifts.empty()) return;
  const std::vector<std::int32_t>& part = rows.part;
  const auto n = static_cast<std::int64_t>(part.size());
  const std::int32_t parts = extremes_of<std::int32_t>(part).most + 1;
  const auto part_of = [&](std::int64_t i) { return part[i]; };
  const auto sum =
      sums_of_groups<T>(n, parts, part_of, [&](std::int64_t i) { return area[i] * b[i]; });
  const auto part_area =
      sums_of_groups<double>(n, parts, part_of, [&](std::int64_t i) { return area[i]; });
  std::vector<T> shift(parts, T(0));
  for (std::size_t e = 0; e < rows.equations.size(); ++e) {
    const std::int32_t p = rows.equations[e].part;
    shift[p] = (charge(e, sum[p]) - sum[p]) / part_area[p];
  }
  for (const auto* shifts : {&rows.shifts, &of_b_alone})
    for (const auto& [p, terms] : *shifts)
      for (const auto& term : terms) shift[p] += term.row * sum[term.part] / part_area[p];
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) b[i] += shift[part[i]];
}

/// The charge equations and shifts of mixed rows, applied to vectors in host memory.
class ChargeEquations {
 public:
  /// Throws InputError for parts that are missing or empty, or changed twice.
  ChargeEquations(const Panels& panels, const std::shared_ptr<const MixedRows>& rows);
  /// Of any unknowns with these areas.
  ChargeEquations(Areas area, std::shared_ptr<const MixedRows> rows);

  bool empty() const { return changed_.empty(); }
  std::span<const std::int32_t> part() const { return rows_->part; }  ///< [n]
  /// [n]; none without changes.
  std::span<const double> area() const {
    return area_ ? std::span<const double>(*area_) : std::span<const double>();
  }
  /// [n]: w A; area() itself where no charge has a weight.
  std::span<const double> charge_weight() const {
    return charge_weight_.empty() ? area() : std::span<const double>(charge_weight_);
  }
  std::span<const double> part_area() const { return part_area_; }  ///< [parts]
  /// The parts that are changed, each once.
  std::span<const PartShift> changed() const { return changed_; }
  /// [n]: whether K'σ of a panel is in a sum; empty if none is.
  const std::vector<char>& needs_flux() const { return needs_flux_; }

  /// Adds A K'σ of panels to the sums F, [parts].
  void add_flux(std::int32_t panel, double flux, double* sums) const {
    sums[rows_->part[panel]] += (*area_)[panel] * flux;
  }
  /// Changes y, the rows' values at x. `fluxes`: F, [parts], or null if there is none. O(n).
  void change_rows(const double* x, const double* fluxes, double* y) const;
  /// The transpose: y += Cᵀ x and x = (1 + R)ᵀ x, where change_rows() is y = (1 + R) y + C x + F f.
  /// Returns Fᵀ x, by part, or nothing if there are no fluxes.
  std::vector<double> change_rows_transposed(double* x, double* y) const;

 private:
  /// [parts]: the sum over each part of values times weights, which are 1 where there are none.
  std::vector<double> sums(const double* values, const double* weights) const;
  void check_parts() const;

  std::shared_ptr<const MixedRows> rows_;
  std::vector<PartShift> changed_;
  std::vector<char> needs_flux_;
  Areas area_;                         ///< [n]; null without changes
  LargeVector<double> charge_weight_;  ///< [n]: w A; empty where w = 1
  std::vector<double> part_area_;      ///< [parts]
};

}  // namespace fmbem
