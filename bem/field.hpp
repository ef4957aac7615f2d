#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/panels.hpp"

namespace fmbem {

/// From which side a point on the surface is seen.
enum class Side {
  mean,      ///< mean of both limits
  positive,  ///< the side that the normal points to: outside of a closed body
  negative,
};

struct Field {
  std::vector<double> potential;    ///< [n_points], φ = ∫ G σ
  std::vector<Vec3d> e;             ///< [n_points], E = −∇φ
  std::size_t singular_points = 0;  ///< points on a panel's edge: E is infinite, and NaN here
};

/// Potential and field of a constant density per panel at any points, also on and near the surface,
/// by exact integrals. σ is [n panels] in the order of Panels; lengths are the mesh's, and so
/// φ is in [σ]·length, E in [σ]. φ is continuous; E jumps by σn across a panel.
/// O(n_points · n_panels). Throws InputError for sizes that differ and points that are not finite.
Field evaluate_field(const Panels& panels, std::span<const double> sigma,
                     std::span<const Vec3d> points, Side side = Side::mean);

}  // namespace fmbem
