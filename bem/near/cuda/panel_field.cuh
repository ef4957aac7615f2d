#pragma once

// Potential of a charged panel at a point, with its derivatives: of Yukawa's kernel the first.
#include "fmbem/bem/near/closed_hessian.hpp"
#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/dipole_field.hpp"

namespace fmbem::cuda::bem {

struct FieldSums {
  double potential = 0;
  Vec3d gradient{};
  Symmetric3d hessian{};
};

/// Laplace's kernel, by closed forms. The gradient is NaN on an edge.
template <bool Hessian>
__device__ inline FieldSums field_of(const Triangle& t, Vec3d x, double tolerance) {
  const TriangleView view = view_triangle(t, x);
  FieldSums sums{potential_of(view), gradient_of(view, t, x, tolerance)};
  if constexpr (Hessian) sums.hessian = triangle_hessian(t, x);
  return sums;
}

/// Adds what a charge at x + d gives: g = charge/(4πr), w = 1/r.
template <bool Hessian>
__device__ inline void add_charge(FieldSums& sums, Vec3d d, double g, double w) {
  const double slope = g * w * w;
  sums.potential += g;
  sums.gradient += slope * d;
  if constexpr (Hessian) {
    const double steep = 3 * slope * w * w;
    sums.hessian += {steep * d.x * d.x - slope, steep * d.x * d.y, steep * d.x * d.z,
                     steep * d.y * d.y - slope, steep * d.y * d.z, steep * d.z * d.z - slope};
  }
}

/// By pieces, whose closed forms lose nothing.
template <bool Hessian>
__device__ __attribute__((noinline)) FieldSums sliver_field(const MomentRulesView& rules,
                                                            const Triangle& t, Vec3d x,
                                                            double tolerance) {
  // A point that lies on a cut through a sliver would take it for an edge.
  if (on_triangle(t, x, tolerance)) return field_of<Hessian>(t, x, tolerance);
  FieldSums sums;
  const auto add_by_rule = [&](const Piece& piece, double distance2, double radius2) {
    int rule = 0;
    while (rule < rules.count && distance2 < rules.reach[rule] * rules.reach[rule] * radius2)
      ++rule;
    if (rule == rules.count) return false;
    const Vec3d e1 = piece.d[1] - piece.d[0], e2 = piece.d[2] - piece.d[0];
    for (int q = rules.begin[rule]; q < rules.begin[rule + 1]; ++q) {
      const Vec3d d = piece.d[0] + rules.xi[q] * e1 + rules.eta[q] * e2;
      const double w = 1 / norm(d);
      add_charge<Hessian>(sums, d, inv_4pi * piece.area * rules.weight[q] * w, w);
    }
    return true;
  };
  for_sliver_pieces({{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area}, add_by_rule,
                    [&](const Triangle& piece) {
                      const FieldSums of_piece = field_of<Hessian>(piece, {}, tolerance);
                      sums.potential += of_piece.potential;
                      sums.gradient += of_piece.gradient;
                      if constexpr (Hessian) sums.hessian += of_piece.hessian;
                    });
  if constexpr (Hessian)
    if (is_beside_sliver(t, x)) sums.hessian = triangle_hessian(t, x);
  return sums;
}

/// Yukawa's kernel, by closed forms. The gradient is NaN on an edge.
__device__ __attribute__((noinline)) inline FieldSums screened_field(const CloseRules& rules,
                                                                     const Triangle& t, Vec3d x,
                                                                     double kappa,
                                                                     double tolerance) {
  FieldSums field;
  for_yukawa_parts(rules, t, x, kappa,
                   [&](const YukawaSums& sums, const Triangle& part, double height) {
                     field.potential += inv_4pi * sums.potential;
                     if (fabs(height) > tolerance)
                       field.gradient -= double_layer_of(sums, height) * part.normal;
                     for (int k = 0; k < 3; ++k)
                       field.gradient -= inv_4pi * sums.line[k] * part.outward[k];
                   });
  const double nan = NAN;
  if (is_on_edge(t, x, tolerance)) field.gradient = {nan, nan, nan};
  return field;
}

}  // namespace fmbem::cuda::bem
