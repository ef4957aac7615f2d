#pragma once

// A panel's potential at a point, by a rule where one serves.
#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/near/cuda/rules.cuh"
#include "fmbem/cuda/p2p_sums.cuh"

namespace fmbem::cuda::bem {

/// Of the first `count` rules the first that serves a panel of such a radius at a distance; −1
/// where none does. κ is in the unit of the lengths.
template <class Kernel>
__device__ inline int rule_for(const MomentRulesView& rules, int count, double kappa, double radius,
                               double distance2) {
  for (int rule = 0; rule < count; ++rule) {
    double left = 1 / rules.reach[rule];
    if constexpr (!Kernel::homogeneous)
      left = inverse_reach_of_rule(rules.reach[rule], rules.degree[rule], kappa * radius);
    if (left > 0 && left * left * distance2 >= radius * radius) return rule;
  }
  return -1;
}

/// A triangle as it is seen from x.
__device__ inline Piece seen_from(const Triangle& t, Vec3d x) {
  return {{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area};
}

/// Calls add(y, w, radial) for the points y of a rule and their weights w.
template <class Kernel, class Add>
__device__ inline void for_rule_points(const MomentRulesView& rules, int rule, const Kernel& kernel,
                                       const Piece& piece, Add&& add) {
  const Vec3d d0 = piece.d[0], e1 = piece.d[1] - d0, e2 = piece.d[2] - d0;
  for (int q = rules.begin[rule]; q < rules.begin[rule + 1]; ++q) {
    const Vec3d d = d0 + rules.xi[q] * e1 + rules.eta[q] * e2;
    const double r2 = norm2(d);
    add(d, rules.weight[q], kernel.template radial<2>(r2, inverse_root<2>(r2)));
  }
}

/// All points of a panel are equally far from the origin along its normal n, so that Σ ∂g/∂n_y is
/// −n·y times the sum of −g'/r.
template <class Kernel>
__device__ inline double potential_by_rule(const MomentRulesView& rules, int rule,
                                           const Kernel& kernel, const Piece& piece, Vec3d normal,
                                           double charge, double dipole) {
  double potential = 0, slope = 0;
  for_rule_points(rules, rule, kernel, piece, [&](Vec3d, double weight, const auto& radial) {
    const double g = weight * radial.g;
    potential += g;
    slope += g * radial.a();
  });
  return inv_4pi * piece.area * (charge * potential - dipole * dot(normal, piece.d[0]) * slope);
}

}  // namespace fmbem::cuda::bem
