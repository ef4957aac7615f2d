#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fmbem/bem/layer/potential_at.hpp"

namespace fmbem::cuda::bem {

/// How potentials at points are evaluated, as of potential_at().
struct PotentialAtPoints {
  double tolerance = 0, kappa = 0;
  /// So many have a tree together, so that what they need of the GPU's memory has a bound.
  std::size_t points_at_once = std::size_t{1} << 24;
};

/// potential_at() of all panels on the current GPU: near panels by rules and closed forms, others
/// by the FMM. Throws InputError for densities and points that are not finite and without a usable
/// GPU, ResourceError where its memory does not suffice. O(points + panels).
std::vector<double> layer_potential(const Panels& panels, const SurfaceDensities& densities,
                                    std::span<const Vec3d> points, const PotentialAtPoints& how);

}  // namespace fmbem::cuda::bem
