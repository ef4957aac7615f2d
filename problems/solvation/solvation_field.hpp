#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem {

/// What holds on panels: φ, and −∂φ/∂n at their back. [n panels] in the order of Panels.
struct BoundaryValues {
  std::span<const double> potential, normal_field;
};

/// Potential of a region and its field, without that of the charges in it, at points in it: Green's
/// identity,
///     φ(x) = Σ_j s_j ∫ G ε_j/ε_R ∂φ/∂n_j − s_j ∫ ∂G/∂n_j φ_j,
/// signs and permittivities as PoissonBoltzmannOperator has them. In the units of the values.
/// `solved` says panels, regions and medium, and the tolerance unless one is given (FieldOptions).
/// O(points + panels).
Field surface_field(const Solvation& solved, const SoluteRegion& region,
                    const BoundaryValues& values, std::span<const Vec3d> points,
                    std::optional<double> tolerance = {});

/// The potential of surface_field() alone, by potential_at(), which takes less time: charges and
/// dipoles go through one FMM, without gradients.
std::vector<double> surface_potential(const Solvation& solved, const SoluteRegion& region,
                                      const BoundaryValues& values, std::span<const Vec3d> points,
                                      std::optional<double> tolerance = {});

/// Of a solved problem the potential at any points, kcal/(mol e): in each region that of its
/// surfaces and, in solutes, of the charges there. At a charge its own part is left out, close to
/// it the potential is as 1/distance. With a least distance, closer charges of the point's region
/// count as at that distance, even those at the point. Throws InputError for points that are not
/// finite.
std::vector<double> potential_at(const Solvation& solved, const Molecule& molecule,
                                 std::span<const Vec3d> points, double least_distance = 0);

}  // namespace fmbem
