#pragma once

#include <vector>

#include "fmbem/bem/space/quadrature.hpp"

namespace fmbem {

/// A rule that integrates the kernel over a triangle whose centroid is at least `reach` radii away.
struct FarRule {
  double reach;
  TriangleRule rule;
  int degree;  ///< of the polynomials that it integrates exactly

  /// The same for e^{−κr}/r and its derivatives, by κ times the radius; infinite where no distance
  /// serves. The error is C Σ_j (radius/distance)^(m−j) (κ radius)^j/j!, m = degree + 1, and at
  /// most C (radius/distance + e κ radius/m)^m. It may be larger than the tolerance by e^spared.
  double reach_for(double kappa_radius, double spared = 0) const;
};

/// What is integrated: 1/r, its gradient, or its second derivatives; a rule for one serves those
/// before it, too.
enum class FarKernel { potential, gradient, hessian };

/// Rules whose relative error is below the tolerance from their reach on, whatever the triangle's
/// shape, from the fewest points and the farthest reach to the most points and the nearest. A rule
/// of degree d has an error of C (radius/distance)^(d+1), with measured C (docs/accuracy.md).
std::vector<FarRule> far_rules(double tolerance, FarKernel kernel);

}  // namespace fmbem
