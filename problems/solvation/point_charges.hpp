#pragma once

#include <span>
#include <vector>

#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/meshes/pqr_file.hpp"
#include "fmbem/problems/solvation/solute_regions.hpp"

namespace fmbem {

/// Charges at places, in the order of what they were made of.
struct PointCharges {
  std::vector<Vec3d> places;
  std::vector<double> q;

  /// Σ_j q_j/(4π|x_i − y_j|), a tenth of the tolerance being the error; pairs that coincide
  /// contribute nothing. By the FMM, or as a plain sum where pairs are few. Writes gradients, too,
  /// if there is room for them.
  std::vector<double> potential_at(std::span<const Vec3d> points, double tolerance,
                                   std::span<Vec3d> gradient = {},
                                   Processor processor = Processor::cpu) const;
  /// Sets Σ_j q_j/(4π max(|x_i − y_j|, least_distance)) at the points to which a charge is closer
  /// than that, and leaves the others as they are. A plain sum over all charges: to take close ones
  /// out of a sum that has them would leave their rounding errors, which are as large as they are.
  void limit_close_potentials(std::span<const Vec3d> points, double least_distance,
                              std::span<double> potential) const;
  /// The same as potential_at() at the charges' own places, to this tolerance.
  static constexpr double tolerance_of_own = 1e-9;
  std::vector<double> potential() const;
};

/// The atoms of a region, in its order.
PointCharges charges_in(const SoluteRegion& region, const std::vector<Atom>& atoms);

}  // namespace fmbem
