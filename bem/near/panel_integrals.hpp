#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// 1/(4π) ∫_T 1/|x−y| dS_y to 1e-12 relative, wherever x lies.
///
/// Within three radii of the centroid it is the closed form triangle_potential(), or
/// strip_potential() for slivers, for which the former loses the square of the aspect ratio.
/// Beyond, it is a Gauss rule with a relative error below 1e-13, because there the closed form
/// loses digits in proportion to the distance (docs/accuracy.md).
double panel_potential(const Triangle& t, Vec3d x);

/// The gradient in x of panel_potential(); on the triangle as triangle_gradient().
Vec3d panel_gradient(const Triangle& t, Vec3d x, double tolerance);

}  // namespace fmbem
