#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// 1/(4π) ∫_T 1/|x−y| dS_y to 1e-12 relative, wherever x lies.
///
/// Within three radii of the centroid it is the closed form triangle_potential(); beyond, Gauss
/// rules of a relative error below 1e-13, because there the closed form loses digits in proportion
/// to the distance. Slivers are cut near x until one of the two is accurate (docs/accuracy.md).
double panel_potential(const Triangle& t, Vec3d x);

/// The same for x within a few radii, to that tolerance: by one closed form if that carries it.
double close_panel_potential(const Triangle& t, Vec3d x, double tolerance);

/// The gradient in x of panel_potential(); on the triangle as triangle_gradient().
Vec3d panel_gradient(const Triangle& t, Vec3d x, double tolerance);

}  // namespace fmbem
