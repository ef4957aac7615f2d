#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// From which side a point on the surface is seen.
enum class Side {
  mean,      ///< mean of both limits
  positive,  ///< the side that the normal points to: outside of a closed body
  negative,
};

struct FieldOptions {
  Side side = Side::mean;
  /// Root mean square error of φ and of E over the points, relative to the root mean square of the
  /// sums of absolute values, 1e-10 to 0.1; 0 for exact integrals of all panels at all points.
  double tolerance = 1e-8;
};

struct Field {
  std::vector<double> potential;    ///< [n_points], φ = ∫ G σ
  std::vector<Vec3d> e;             ///< [n_points], E = −∇φ
  std::size_t singular_points = 0;  ///< points on a panel's edge: E is infinite, and NaN here
};

/// Potential and field of a constant density per panel at any points, also on and near the surface:
/// by exact integrals near by, and by the FMM far away where there are many points and panels. σ is
/// [n panels] in the order of Panels. Lengths are the mesh's, so φ is in [σ]·length and E in [σ]. φ
/// is continuous; E jumps by σn across a panel. O(n_points + n_panels). Throws InputError for sizes
/// that differ, points that are not finite and a tolerance out of range.
Field evaluate_field(const Panels& panels, std::span<const double> sigma,
                     std::span<const Vec3d> points, const FieldOptions& options = {});

}  // namespace fmbem
