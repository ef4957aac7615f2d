#pragma once

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/near/cuda/near_rows.cuh"

namespace fmbem::cuda::bem {

/// How pairs that are too close for a rule are integrated.
struct CloseRules {
  double shaped;  ///< triangles of this shape take one closed form
  StripRules strips;
  explicit CloseRules(double tolerance)
      : shaped(shaped_enough(tolerance)), strips(strip_rules(tolerance)) {}
};

__device__ inline Triangle scaled_triangle(const NearRowsView& a, std::int64_t panel) {
  const Vec3d* const v = a.vertices + 3 * panel;
  return make_triangle(a.scale * v[0], a.scale * v[1], a.scale * v[2]);
}

__device__ __attribute__((noinline)) inline double sliver_potential(const StripRules& rules,
                                                                    const Triangle& t, Vec3d x) {
  const Strip strip = make_strip(t);
  return strip_potential(rules, t, strip, 0, strip.length, x);
}

/// The integral of a pair that is too close for a rule, as seen from the i-th target.
template <Trace source>
__device__ inline double close_integral(const NearRowsView& a, const CloseRules& rules,
                                        std::int64_t i, std::int64_t panel) {
  const Vec3d x = a.target(i);
  const Triangle t = scaled_triangle(a, panel);
  // The mean of both sides at its own centroid, which rounding puts on one of them.
  if constexpr (source == Trace::normal)
    return a.targets.order[i] == panel ? 0 : triangle_double_layer(t, x);
  return shape(t) > rules.shaped ? triangle_potential(t, x) : sliver_potential(rules.strips, t, x);
}

}  // namespace fmbem::cuda::bem
