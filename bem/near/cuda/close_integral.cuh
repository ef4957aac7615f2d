#pragma once

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/near/cuda/near_rows.cuh"
#include "fmbem/bem/near/yukawa_closed_form.hpp"

namespace fmbem::cuda::bem {

/// A rule for pieces of slivers. Without one they would be cut on wherever they are, which makes
/// hundreds of thousands of pieces of a needle.
struct PieceRule {
  static constexpr int most_points = 64;
  /// The one that serves closest by.
  explicit PieceRule(double tolerance);

  __device__ bool serves(double kappa, double distance2, double radius2) const {
    const double left = inverse_reach_of_rule(reach, degree, kappa * sqrt(radius2));
    return left > 0 && left * left * distance2 >= radius2;
  }
  /// Calls add(y, w) for the points y of a piece, as seen from the origin, and their weights w.
  template <class Add>
  __device__ void for_points(const Piece& piece, Add&& add) const {
    const Vec3d e1 = piece.d[1] - piece.d[0], e2 = piece.d[2] - piece.d[0];
    for (int q = 0; q < count; ++q)
      add(piece.d[0] + xi[q] * e1 + eta[q] * e2, piece.area * weight[q]);
  }

  int count, degree;
  double reach, xi[most_points], eta[most_points], weight[most_points];
};

/// How pairs that are too close for a rule are integrated.
struct CloseRules {
  double shaped;  ///< triangles of this shape take one closed form
  StripRules strips;
  EdgeRule edges;    ///< of Yukawa's kernel
  PieceRule pieces;  ///< of Yukawa's kernel
  explicit CloseRules(double tolerance)
      : shaped(shaped_enough(tolerance)),
        strips(strip_rules(tolerance)),
        edges(edge_rule()),
        pieces(tolerance) {}
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

/// What dipoles give above or below a triangle, the mean 0 in its plane.
__device__ inline double double_layer_of(const YukawaSums& sums, double height) {
  return height == 0 ? 0 : inv_4pi * copysign(sums.flux, height);
}

/// The integrals of Yukawa's kernel over a triangle, of charges and of dipoles, by its closed form.
__device__ __attribute__((noinline)) inline OfBoth<double> closed_yukawa(const EdgeRule& edges,
                                                                         const Triangle& t, Vec3d x,
                                                                         double kappa) {
  const YukawaView view(t, x);
  const YukawaSums sums = yukawa_closed_sums(edges, t, x, view, kappa, YukawaPart::all);
  return {inv_4pi * sums.potential, double_layer_of(sums, view.height)};
}

/// The same for triangles of all shapes: slivers are cut until a rule serves or the pieces are well
/// shaped.
__device__ __attribute__((noinline)) inline OfBoth<double> close_yukawa(const CloseRules& rules,
                                                                        const Triangle& t, Vec3d x,
                                                                        double kappa) {
  if (shape(t) > rules.shaped) return closed_yukawa(rules.edges, t, x, kappa);
  OfBoth<double> sum;
  for_sliver_pieces(
      Piece{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area},
      [&](const Piece& piece, double distance2, double radius2) {
        if (!rules.pieces.serves(kappa, distance2, radius2)) return false;
        OfBoth<double> of_piece;
        rules.pieces.for_points(piece, [&](Vec3d y, double weight) {
          const double over = 1 / norm(y), u = kappa / over, g = weight * exp(-u) * over;
          of_piece += {g, (1 + u) * g * over * over};
        });
        sum += inv_4pi * OfBoth<double>{of_piece.v, -dot(t.normal, piece.d[0]) * of_piece.k};
        return true;
      },
      [&](const Triangle& part) { sum += closed_yukawa(rules.edges, part, {}, kappa); });
  return sum;
}

/// The integrals over a triangle by closed forms, as seen from x: of charges and of dipoles.
template <class Kernel>
__device__ inline OfBoth<double> close_integrals(const CloseRules& rules, const Triangle& t,
                                                 Vec3d x, double kappa) {
  if constexpr (!Kernel::homogeneous) return close_yukawa(rules, t, x, kappa);
  return {shape(t) > rules.shaped ? triangle_potential(t, x) : sliver_potential(rules.strips, t, x),
          triangle_double_layer(t, x)};
}

/// One of them.
template <Trace source, class Kernel>
__device__ inline double close_integral(const CloseRules& rules, const Triangle& t, Vec3d x,
                                        double kappa) {
  if constexpr (!Kernel::homogeneous) {
    const OfBoth<double> both = close_yukawa(rules, t, x, kappa);
    return source == Trace::value ? both.v : both.k;
  }
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
