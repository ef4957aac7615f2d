#pragma once

// Potential of a charged panel at a point, with its derivatives: of Yukawa's kernel the first.
#include "fmbem/bem/near/closed_hessian.hpp"
#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/panel_integral.cuh"
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

/// Adds what charges on a piece, or dipoles along its normal, give at the origin by a rule.
template <bool Dipoles, class Kernel>
__device__ inline void add_by_rule(const MomentRulesView& rules, int rule, const Kernel& kernel,
                                   const Piece& piece, Vec3d normal, double strength,
                                   FieldSums& field) {
  Sums<double, true, true> sums;
  for_rule_points(rules, rule, kernel, piece, [&](Vec3d y, double weight, const auto& radial) {
    fmm::add_pair<Dipoles, true, true>(radial, Dipoles ? 0.0 : weight, weight * normal, -1.0 * y,
                                       sums);
  });
  const double scale = inv_4pi * piece.area * strength;
  field.potential += scale * sums.potential;
  field.gradient += scale * Vec3d{sums.x, sums.y, sums.z};
}

/// Yukawa's kernel, by closed forms, and by rules of pieces of slivers. The gradient is NaN on an
/// edge.
__device__ __attribute__((noinline)) inline FieldSums screened_field(const MomentRulesView& rules,
                                                                     const CloseRules& close,
                                                                     const Triangle& t, Vec3d x,
                                                                     double kappa,
                                                                     double tolerance) {
  FieldSums field;
  const auto add_closed = [&](const Triangle& part, Vec3d from) {
    const YukawaView view(part, from);
    const YukawaSums sums =
        yukawa_closed_sums(close.edges, part, from, view, kappa, YukawaPart::all);
    field.potential += inv_4pi * sums.potential;
    if (fabs(view.height) > tolerance)
      field.gradient -= double_layer_of(sums, view.height) * part.normal;
    for (int k = 0; k < 3; ++k) field.gradient -= inv_4pi * sums.line[k] * part.outward[k];
  };
  // A point that lies on a cut through a sliver would take it for an edge.
  if (shape(t) > close.shaped || on_triangle(t, x, tolerance))
    add_closed(t, x);
  else
    for_sliver_pieces(
        seen_from(t, x),
        [&](const Piece& piece, double distance2, double radius2) {
          const int rule =
              rule_for<fmm::Yukawa>(rules, rules.count, kappa, sqrt(radius2), distance2);
          if (rule >= 0)
            add_by_rule<false>(rules, rule, NearYukawa<double>(fmm::Yukawa{kappa}), piece, t.normal,
                               1, field);
          return rule >= 0;
        },
        [&](const Triangle& part) { add_closed(part, {}); });
  const double nan = NAN;
  if (is_on_edge(t, x, tolerance)) field.gradient = {nan, nan, nan};
  return field;
}

}  // namespace fmbem::cuda::bem
