#pragma once

#include <vector>

#include "fmbem/bem/space/quadrature.hpp"

namespace fmbem {

/// A rule that integrates the kernel over a triangle from `reach` radii off its centroid on.
struct FarRule {
  double reach;
  TriangleRule rule;
  int degree;  ///< of the polynomials that it integrates exactly
};

/// What is integrated: 1/r, its gradient, or its second derivatives; a rule for one serves those
/// before it, too.
enum class FarKernel { potential, gradient, hessian };

/// Rules whose relative error is below the tolerance from their reach on, whatever the triangle's
/// shape: from the fewest points and the farthest reach to the most and the nearest. An error of
/// degree d falls as C (radius/distance)^(d+1); the C of each rule are measured (docs/accuracy.md).
std::vector<FarRule> far_rules(double tolerance, FarKernel kernel);

}  // namespace fmbem
