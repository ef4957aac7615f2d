#pragma once

#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/field.hpp"

namespace fmbem {

/// Adds to potentials of double layers at points of edges and vertices what the limit of their side
/// differs by from the sum over panels, each of which adds ±½ μ times its part of the angle about
/// the point, 0 for the mean. Of a surface that closes about the point, f of the solid angle there
/// being on its positive side, that sum with the mean is the principal value. The limit is
/// (1 − f) μ more on the positive side and f μ less on the other; of panels that differ in μ, the
/// mean by their angles is taken. Elsewhere, as on rims, sums are left as they are. Points that are
/// looked at have an E that is NaN. O(n panels log² n) if there are any.
void set_limits_at_bends(const Panels& panels, std::span<const double> mu,
                         std::span<const Vec3d> points, Side side, Field& field);

}  // namespace fmbem
