#include "fmbem/bem/near/panel_integrals.hpp"

#include <cmath>

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/near/closed_hessian.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/simd.hpp"

namespace fmbem {
namespace {

/// Rules of a relative error below 1e-13, their points padded to whole vectors by zero weights.
const std::vector<FarRule>& exact_rules(FarKernel kernel) {
  const auto make = [](FarKernel wanted) {
    std::vector<FarRule> rules = far_rules(1e-13, wanted);
    for (FarRule& far : rules)
      for (auto* column : {&far.rule.xi, &far.rule.eta, &far.rule.weight})
        column->resize((column->size() + 7) / 8 * 8, 0.0);
    return rules;
  };
  static const auto potential = make(FarKernel::potential), gradient = make(FarKernel::gradient),
                    hessian = make(FarKernel::hessian);
  return kernel == FarKernel::potential  ? potential
         : kernel == FarKernel::gradient ? gradient
                                         : hessian;
}

/// The cheapest rule that is accurate at a squared distance from the centroid; null where none is.
const TriangleRule* rule_for(const std::vector<FarRule>& rules, double distance2, double radius2) {
  for (const FarRule& far : rules)
    if (distance2 >= far.reach * far.reach * radius2) return &far.rule;
  return nullptr;
}

/// 1/√t to rounding, for t from 1/4 to 9/4: a polynomial that is at most 0.8 % off (by Lawson's
/// algorithm), and two steps of third order. A root and a division, of which processors do few at a
/// time, take twice as long.
FMBEM_INLINE double inverse_root(double t) {
  double y =
      3.161156 + t * (-6.477390 + t * (8.419279 + t * (-5.851631 + t * (2.027111 - t * 0.274813))));
  for (int step = 0; step < 2; ++step) {
    const double e = 1 - t * y * y;
    y += y * e * (0.5 + 0.375 * e);
  }
  return y;
}

FMBEM_SIMD_CLONES double far_potential(const TriangleRule& rule, Vec3d d, Vec3d e1, Vec3d e2) {
  const double *xi = rule.xi.data(), *eta = rule.eta.data(), *weight = rule.weight.data();
  const std::size_t n = rule.weight.size();
  // 1/r² of the centroid. Rules serve from two radii on, where r² of their points is between a
  // quarter and 9/4 of that.
  const double scale = 9 / norm2(3.0 * d + e1 + e2);
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t q = 0; q < n; ++q) {
    const double x = d.x + xi[q] * e1.x + eta[q] * e2.x;
    const double y = d.y + xi[q] * e1.y + eta[q] * e2.y;
    const double z = d.z + xi[q] * e1.z + eta[q] * e2.z;
    sum += weight[q] * inverse_root(scale * (x * x + y * y + z * z));
  }
  return std::sqrt(scale) * sum;
}

FMBEM_SIMD_CLONES Vec3d far_gradient(const TriangleRule& rule, Vec3d d, Vec3d e1, Vec3d e2) {
  const double *xi = rule.xi.data(), *eta = rule.eta.data(), *weight = rule.weight.data();
  const std::size_t n = rule.weight.size();
  double sum_x = 0, sum_y = 0, sum_z = 0;
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z)
  for (std::size_t q = 0; q < n; ++q) {
    const double x = d.x + xi[q] * e1.x + eta[q] * e2.x;
    const double y = d.y + xi[q] * e1.y + eta[q] * e2.y;
    const double z = d.z + xi[q] * e1.z + eta[q] * e2.z;
    const double r2 = x * x + y * y + z * z;
    const double w = weight[q] / (r2 * std::sqrt(r2));
    sum_x += w * x;
    sum_y += w * y;
    sum_z += w * z;
  }
  return {sum_x, sum_y, sum_z};
}

FMBEM_SIMD_CLONES Symmetric3d far_hessian(const TriangleRule& rule, Vec3d d, Vec3d e1, Vec3d e2) {
  const double *xi = rule.xi.data(), *eta = rule.eta.data(), *weight = rule.weight.data();
  const std::size_t n = rule.weight.size();
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;
#pragma omp simd reduction(+ : xx, xy, xz, yy, yz, zz)
  for (std::size_t q = 0; q < n; ++q) {
    const double x = d.x + xi[q] * e1.x + eta[q] * e2.x;
    const double y = d.y + xi[q] * e1.y + eta[q] * e2.y;
    const double z = d.z + xi[q] * e1.z + eta[q] * e2.z;
    const double r2 = x * x + y * y + z * z;
    const double w = weight[q] / (r2 * r2 * std::sqrt(r2));
    xx += w * (3 * x * x - r2);
    xy += w * (3 * x * y);
    xz += w * (3 * x * z);
    yy += w * (3 * y * y - r2);
    yz += w * (3 * y * z);
    zz += w * (3 * z * z - r2);
  }
  return {xx, xy, xz, yy, yz, zz};
}

struct HessianSum {
  const std::vector<FarRule>& rules = exact_rules(FarKernel::hessian);
  Symmetric3d value{};
  void far(const TriangleRule& rule, const Piece& p) {
    value += inv_4pi * p.area * far_hessian(rule, p.d[0], p.d[1] - p.d[0], p.d[2] - p.d[0]);
  }
  void near(const Triangle& t, Vec3d x = {}) { value += triangle_hessian(t, x); }
};

struct GradientSum {
  double tolerance;
  const std::vector<FarRule>& rules = exact_rules(FarKernel::gradient);
  Vec3d value{};
  void far(const TriangleRule& rule, const Piece& p) {
    value += inv_4pi * p.area * far_gradient(rule, p.d[0], p.d[1] - p.d[0], p.d[2] - p.d[0]);
  }
  void near(const Triangle& t, Vec3d x = {}) { value += triangle_gradient(t, x, tolerance); }
};

template <class Sum>
Sum integrate(Sum sum, const Triangle& t, Vec3d x) {
  const Piece piece{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area};
  const auto far = [&](const Piece& p, double distance2, double radius2) {
    const TriangleRule* rule = rule_for(sum.rules, distance2, radius2);
    if (rule) sum.far(*rule, p);
    return rule != nullptr;
  };
  if (far(piece, norm2(t.centroid - x), t.radius * t.radius)) return sum;
  if (shape(t) > well_shaped)
    sum.near(t, x);
  else
    for_sliver_pieces(piece, far, [&](const Triangle& p) { sum.near(p); });
  return sum;
}

}  // namespace

double panel_potential(const Triangle& t, Vec3d x) {
  const TriangleRule* rule =
      rule_for(exact_rules(FarKernel::potential), norm2(t.centroid - x), t.radius * t.radius);
  if (rule)
    return inv_4pi * t.area *
           far_potential(*rule, t.vertex[0] - x, t.vertex[1] - t.vertex[0],
                         t.vertex[2] - t.vertex[0]);
  if (shape(t) > well_shaped) return triangle_potential(t, x);
  static const StripRules rules = strip_rules(1e-13);
  const Strip strip = make_strip(t);
  return strip_potential(rules, t, strip, 0, strip.length, x);
}

Vec3d panel_gradient(const Triangle& t, Vec3d x, double tolerance) {
  // A point that lies on a cut through a sliver would take it for an edge.
  if (on_triangle(t, x, tolerance)) return triangle_gradient(t, x, tolerance);
  return integrate(GradientSum{tolerance}, t, x).value;
}

Symmetric3d panel_hessian(const Triangle& t, Vec3d x) {
  return is_beside_sliver(t, x) ? triangle_hessian(t, x) : integrate(HessianSum{}, t, x).value;
}

}  // namespace fmbem
