#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/base/hd.hpp"

namespace fmbem {

/// 1/reach in radii of a rule of that degree, whose reach for 1/r is given, for e^{−κr}/r and its
/// derivatives, by κ times the radius; 0 or less where no distance serves. The error is C Σ_j
/// (radius/distance)^(m−j) (κ radius)^j/j!, m = degree + 1, and at most C (radius/distance + e κ
/// radius/m)^m. It may be larger than the tolerance by e^spared.
FMBEM_HD inline double inverse_reach_of_rule(double reach, int degree, double kappa_radius,
                                             double spared = 0) {
  const double m = degree + 1;
  return exp(spared / m) / reach - std::numbers::e * kappa_radius / m;
}

/// A rule that integrates the kernel over a triangle whose centroid is at least `reach` radii away.
struct FarRule {
  double reach;
  TriangleRule rule;
  int degree;  ///< of the polynomials that it integrates exactly

  /// The same for e^{−κr}/r (inverse_reach_of_rule()); infinite where no distance serves.
  double reach_for(double kappa_radius, double spared = 0) const;
};

/// Moments of panels: targets of Yukawa's kernel are at a distance of so many sides of the box,
/// which makes the field e^{κ distance} smaller, so that a rule may err by as much more.
inline constexpr double spared_by_screening = 0.8;
/// What serves moments of Yukawa's kernel where no other rule does.
const TriangleRule& densest_moment_rule();

/// What is integrated: 1/r, its gradient, or its second derivatives; a rule for one serves those
/// before it, too.
enum class FarKernel { potential, gradient, hessian };

/// Rules whose relative error is below the tolerance from their reach on, whatever the triangle's
/// shape, from the fewest points and the farthest reach to the most points and the nearest. A rule
/// of degree d has an error of C (radius/distance)^(d+1), with measured C (docs/accuracy.md).
std::vector<FarRule> far_rules(double tolerance, FarKernel kernel);

}  // namespace fmbem
