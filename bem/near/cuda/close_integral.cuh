#pragma once

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/near/cuda/near_rows.cuh"
#include "fmbem/bem/near/yukawa_closed_form.hpp"

namespace fmbem::cuda::bem {

/// How pairs that are too close for a rule are integrated.
struct CloseRules {
  double shaped;  ///< triangles of this shape take one closed form
  StripRules strips;
  EdgeRule edges;  ///< of Yukawa's kernel
  explicit CloseRules(double tolerance)
      : shaped(shaped_enough(tolerance)), strips(strip_rules(tolerance)), edges(edge_rule()) {}
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

/// Calls add(sums of yukawa_closed_sums(), triangle, height of x) for a triangle, or for its
/// pieces: slivers are cut until all of them are well shaped.
template <class Add>
__device__ inline void for_yukawa_parts(const CloseRules& rules, const Triangle& t, Vec3d x,
                                        double kappa, Add&& add) {
  const auto integrate = [&](const Triangle& part, Vec3d from) {
    const YukawaView view(part, from);
    add(yukawa_closed_sums(rules.edges, part, from, view, kappa, YukawaPart::all), part,
        view.height);
  };
  if (shape(t) > rules.shaped) return integrate(t, x);
  for_sliver_pieces(
      Piece{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area},
      [](const Piece&, double, double) { return false; },
      [&](const Triangle& part) { integrate(part, {}); });
}

/// What dipoles give above or below a triangle, the mean 0 in its plane.
__device__ inline double double_layer_of(const YukawaSums& sums, double height) {
  return height == 0 ? 0 : inv_4pi * copysign(sums.flux, height);
}

template <Trace source>
__device__ __attribute__((noinline)) inline double close_yukawa(const CloseRules& rules,
                                                                const Triangle& t, Vec3d x,
                                                                double kappa) {
  double sum = 0;
  for_yukawa_parts(rules, t, x, kappa, [&](const YukawaSums& sums, const Triangle&, double height) {
    sum += source == Trace::value ? inv_4pi * sums.potential : double_layer_of(sums, height);
  });
  return sum;
}

/// The integrals over a triangle by closed forms, as seen from x: of charges and of dipoles.
template <class Kernel>
__device__ __attribute__((noinline)) inline OfBoth<double> close_integrals(const CloseRules& rules,
                                                                           const Triangle& t,
                                                                           Vec3d x, double kappa) {
  OfBoth<double> sum;
  if constexpr (Kernel::homogeneous)
    sum = {
        shape(t) > rules.shaped ? triangle_potential(t, x) : sliver_potential(rules.strips, t, x),
        triangle_double_layer(t, x)};
  else
    for_yukawa_parts(
        rules, t, x, kappa, [&](const YukawaSums& sums, const Triangle&, double height) {
          sum += OfBoth<double>{inv_4pi * sums.potential, double_layer_of(sums, height)};
        });
  return sum;
}

/// One of them.
template <Trace source, class Kernel>
__device__ inline double close_integral(const CloseRules& rules, const Triangle& t, Vec3d x,
                                        double kappa) {
  if constexpr (!Kernel::homogeneous) return close_yukawa<source>(rules, t, x, kappa);
  if constexpr (source == Trace::normal) return triangle_double_layer(t, x);
  return shape(t) > rules.shaped ? triangle_potential(t, x) : sliver_potential(rules.strips, t, x);
}

/// The integral of a pair that is too close for a rule, as seen from the i-th target.
template <Trace source, class Kernel = fmm::Laplace>
__device__ inline double close_integral(const NearRowsView& a, const CloseRules& rules,
                                        std::int64_t i, std::int64_t panel) {
  // The mean of both sides at its own centroid, which rounding puts on one of them.
  if (source == Trace::normal && a.own_panel(i) == panel) return 0;
  return close_integral<source, Kernel>(rules, scaled_triangle(a, panel), a.target(i),
                                        a.kernel.kappa);
}

}  // namespace fmbem::cuda::bem
