#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// Integrals over a triangle T with the normal n, seen from x.
struct YukawaIntegrals {
  double potential = 0;     ///< ∫ G dS_y
  Vec3d gradient{};         ///< its gradient in x
  double double_layer = 0;  ///< ∫ ∂G/∂n_y dS_y, 0 in the plane
};

/// Which part of Yukawa's kernel: G = exp(−κr)/(4πr), or what it has less than Laplace's,
/// (exp(−κr) − 1)/(4πr), which is bounded and is not found by subtracting.
enum class YukawaPart { all, less_laplace };

/// The integrals for κ > 0 to 1e-12 relative to the larger of their own size and of what rounding
/// the coordinates changes, wherever x lies. In the interior of the triangle, where |height| ≤
/// tolerance, the gradient is the mean of both sides' limits; on an edge (closer than the
/// tolerance) it is infinite: NaN; that of less_laplace is finite and is neither.
///
/// With polar coordinates (ρ, φ) about the projection of x, whose height is h, the integrals over ρ
/// are elementary. Edge by edge, d being the distance of the projection inside the edge's line, s
/// the place along it, m its outward normal, and dφ = d ds/ρ² [as Wilton et al. 1984 for κ = 0],
///
///     4π potential = Σ ∫ (e^{−κh} − e^{−κr})/κ dφ,
///     4π double layer = ±Σ ∫ (e^{−κh} − (h/r) e^{−κr}) dφ,
///     4π gradient = −Σ m ∫ e^{−κr}/r ds − n 4π double layer.
///
/// Where κr ≤ 2 they are series in κ of ∫ r^k ds and ∫_T r^k dS, all of them closed forms (the
/// terms of 1/r, r, r³ and so on). Elsewhere ds = r dt makes the integrands entire in t, for
/// Gauss's rule. If the projection lies outside, the parts of e^{−κh} cancel and are left out. Far
/// away a rule over the triangle serves; slivers are cut.
YukawaIntegrals yukawa_integrals(const Triangle& t, Vec3d x, double kappa, double tolerance = 0,
                                 YukawaPart part = YukawaPart::all);

}  // namespace fmbem
