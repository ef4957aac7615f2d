#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem {

/// 1/(4π) ∫_T 1/|x−y| dS_y to 1e-12 relative, wherever x lies.
///
/// Within three radii of the centroid it is the closed form triangle_potential(), or for slivers,
/// of which that loses the square of the aspect ratio, strip_potential(); beyond, Gauss rules of a
/// relative error below 1e-13, because there the closed form loses digits in proportion to the
/// distance (docs/accuracy.md).
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

/// B and A of an edge, arguments as those of edge_log_ratio(); without cancellation.
struct EdgeDerivatives {
  double of_line, of_cube;
  EdgeDerivatives(double s_minus, double s_plus, double r_minus, double r_plus, double length,
                  double d2);
};
/// What edge k adds to 4π panel_hessian(), from B, A d and A h.
Symmetric3d edge_hessian(const Triangle& t, int k, double b, double ad, double ah);

}  // namespace fmbem
