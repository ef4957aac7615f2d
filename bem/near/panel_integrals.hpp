#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"

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

/// The second derivatives in x of panel_potential(), which go on through the panel's interior and
/// are infinite on its edges: to 1e-12 relative, and what a rounding of the coordinates does. Edge
/// by edge, with m outward and t along it, n the normal, d the distance of x's projection inside
/// the edge's line and h the height of x,
///
///     −B (m tᵀ + t mᵀ)/2 − A (d (m mᵀ − n nᵀ) − h (m nᵀ + n mᵀ)),   A = ∫ ds/r³, B = ∂ₜ ∫ ds/r,
///
/// over 4π: the derivatives of −Σ m ∫ ds/r − n·(solid angle), as harmonic functions have them
/// [Wilton et al. 1984; Graglia 1993, for the first].
Symmetric3d panel_hessian(const Triangle& t, Vec3d x);

}  // namespace fmbem
