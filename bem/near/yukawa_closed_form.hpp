#pragma once

// The closed forms of yukawa_integrals(), for processors of all kinds.
#include <cmath>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"

namespace fmbem {

/// κr up to which the series serves: its terms are up to e² times as large as the sum.
inline constexpr double yukawa_series_reach = 2;
/// e^{−κr} beyond is below all rounding.
inline constexpr double negligible_decay = 40;

/// A part of an edge's line, from place a to b as seen from the foot of x.
struct LinePart {
  double d;  ///< of the projection of x inside the line
  double a, b, r_a, r_b;
  double log_ratio;  ///< ∫ ds/r
};

/// 4π times what is integrated; `line` is ∫ e^{−κr}/r ds of the parts.
struct YukawaSums {
  double potential = 0, flux = 0, line[3] = {0, 0, 0};
};

/// Σ_k (−κ)^k/k! times ∫ r^{k−1} dS and, for the flux, −∂/∂h of it, over the region of polar angles
/// of `n` parts: from k = 0 on, or from 1. With ds, s, d and h as above, and m = k − 1,
///
///     (m+1) ∫ r^m ds = [s r^m] + m (d² + h²) ∫ r^{m−2} ds,
///     (m+2) ∫ r^m dS = Σ d ∫ r^m ds + m h² ∫ r^{m−2} dS     (Gauss' theorem for ρ⃗ r^m).
///
/// `of_laplace` is ∫ dS/r, `angle` the solid angle.
FMBEM_HD inline YukawaSums sum_yukawa_series(const LinePart* parts, int n, double h, double kappa,
                                             double of_laplace, double angle, YukawaPart which) {
  // Lengths are in 1/κ, so that no power of them overflows.
  YukawaSums sums;
  double line[3][2], surface[2] = {kappa * of_laplace, 0}, power_a[3], power_b[3], farthest = 0;
  const double height = kappa * h;
  for (int e = 0; e < n; ++e) {
    const LinePart& p = parts[e];
    // On the line itself ∫ ds/r is infinite, and counts 0 times.
    line[e][0] = p.d == 0 && h == 0 ? 0 : p.log_ratio;
    line[e][1] = 0;
    power_a[e] = power_b[e] = kappa;
    farthest = fmax(farthest, fmax(kappa * p.r_a, kappa * p.r_b));
  }
  // The difference of the kernels has a flux that begins with the second term.
  const double least =
      which == YukawaPart::less_laplace ? 1e-18 * fmin(1.0, farthest * farthest) : 1e-18;
  double factor = 1, size = farthest;  // (−1)^k/k!, and what the term is at the most
  for (int k = 1; size > least; ++k, size *= farthest / k) {
    const int m = k - 1, parity = k % 2;
    factor /= -k;
    double outer = 0;
    for (int e = 0; e < n; ++e) {
      const LinePart& p = parts[e];
      const double d = kappa * p.d;
      line[e][parity] =
          (p.b * power_b[e] - p.a * power_a[e] + m * (d * d + height * height) * line[e][parity]) /
          (m + 1);
      power_a[e] *= kappa * p.r_a;
      power_b[e] *= kappa * p.r_b;
      outer += d * line[e][parity];
      sums.line[e] += factor * line[e][parity];
    }
    sums.flux -= factor * m * height * surface[parity];
    surface[parity] = (outer + m * height * height * surface[parity]) / (m + 2);
    sums.potential += factor * surface[parity];
  }
  sums.potential /= kappa;
  if (which == YukawaPart::less_laplace) return sums;
  sums.potential += of_laplace;
  sums.flux += angle;
  for (int e = 0; e < n; ++e) sums.line[e] += parts[e].log_ratio;
  return sums;
}

/// Gauss's rule for the parts of edges, for processors of all kinds.
struct EdgeRule {
  static constexpr int points = 12;
  double node[points], weight[points];
  EdgeRule();
};
const EdgeRule& edge_rule();

/// The integrals along one side of an edge's foot, 0 ≤ a < b: those of e^{−κh} − e^{−κr} or, seen
/// from outside, of −e^{−κr}.
class SideOfEdge {
 public:
  /// `from`: the distance whose e^{−κr} is taken out as a factor, h or that of the triangle. The
  /// rule must outlive it.
  FMBEM_HD SideOfEdge(const EdgeRule& rule, double d, double h, double kappa, double from,
                      bool from_outside, YukawaPart part)
      : rule_(rule),
        d_(d),
        h_(h),
        kappa_(kappa),
        part_(part),
        from_(from),
        most_(from + negligible_decay / kappa),
        from_outside_(from_outside),
        distance2_(d * d + h * h) {}

  /// Adds to sums without their factor, and what the series has to `complete`.
  FMBEM_HD void add(double a, double b, YukawaSums& sums, YukawaSums& complete, int edge) const {
    const double least = yukawa_series_reach / kappa_;
    if (!from_outside_ && distance2_ < least * least) {
      const double end = fmin(b, sqrt(least * least - distance2_));
      if (end > a) {
        add_series(a, end, complete, edge);
        a = end;
      }
    }
    if (a >= b) return;
    if (part_ == YukawaPart::less_laplace) subtract_laplace(a, b, complete, edge);
    const double end = most_ * most_ > distance2_ ? fmin(b, sqrt(most_ * most_ - distance2_)) : 0;
    if (end > a) add_by_rule(a, end, sums, edge);
    const double from = fmax(a, end);
    if (from_outside_ || from >= b || d_ == 0) return;
    const double angle = atan2(d_ * (b - from), d_ * d_ + from * b);
    sums.potential += angle / kappa_;
    sums.flux += angle;
  }

 private:
  FMBEM_HD double radius(double s) const { return sqrt(s * s + distance2_); }

  /// What Laplace's kernel has: along the line, over the surface, and the solid angle.
  struct OfLaplace {
    double line, surface, angle;
  };
  FMBEM_HD OfLaplace laplace(const LinePart& part) const {
    if (d_ == 0) return {part.log_ratio, 0, 0};
    const double angle = atan(d_ * part.b / (distance2_ + h_ * part.r_b)) -
                         atan(d_ * part.a / (distance2_ + h_ * part.r_a));
    return {part.log_ratio, d_ * part.log_ratio - h_ * angle, angle};
  }
  /// Infinite where x lies on the edge: a = d = h = 0.
  FMBEM_HD LinePart line_part(double a, double b) const {
    const double r_a = radius(a), r_b = radius(b);
    return {d_, a, b, r_a, r_b, log1p((b - a) * (1 + (a + b) / (r_a + r_b)) / (r_a + a))};
  }

  FMBEM_HD void subtract_laplace(double a, double b, YukawaSums& complete, int edge) const {
    const OfLaplace less = laplace(line_part(a, b));
    complete.line[edge] -= less.line;
    complete.potential -= less.surface;
    complete.flux -= less.angle;
  }

  FMBEM_HD void add_series(double a, double b, YukawaSums& complete, int edge) const {
    const LinePart part = line_part(a, b);
    const OfLaplace of_laplace = laplace(part);
    const YukawaSums part_sums =
        sum_yukawa_series(&part, 1, h_, kappa_, of_laplace.surface, of_laplace.angle, part_);
    complete.potential += part_sums.potential;
    complete.flux += part_sums.flux;
    complete.line[edge] += part_sums.line[0];
  }

  FMBEM_HD void add_by_rule(double a, double b, YukawaSums& sums, int edge) const {
    double r_a = radius(a), left = line_part(a, b).log_ratio;
    // Seen from outside, integrands have poles at s = ±id, where t = i arcsin(d/√(d² + h²)).
    const double pole = asin(fmin(1.0, fabs(d_) / sqrt(distance2_)));
    while (left > 0) {
      // κr grows by some 10 at the most, as κs t + κr t²/2.
      double width = fmin(fmin(1.0, 3 / sqrt(kappa_ * r_a)), a > 0 ? 8 / (kappa_ * a) : 1.0);
      if (from_outside_ && d_ != 0) {
        const double t = asinh(a / sqrt(distance2_));
        width = fmin(width, 0.9 * sqrt(t * t + pole * pole));
      }
      if (width > 0.75 * left) width = left;
      // r + s grows as e^t, and r − s falls.
      const double sum = r_a + a, difference = distance2_ / sum;
      for (int q = 0; q < EdgeRule::points; ++q) {
        const double up = 0.5 * sum * exp(width * rule_.node[q]),
                     down = 0.25 * sum * difference / up;
        add_point(up - down, up + down, width * rule_.weight[q], sums, edge);
      }
      const double up = 0.5 * sum * exp(width), down = 0.25 * sum * difference / up;
      a = up - down;
      r_a = up + down;
      left = width < left ? left - width : 0;
    }
  }

  FMBEM_HD void add_point(double s, double r, double weight, YukawaSums& sums, int edge) const {
    const double rho2 = d_ * d_ + s * s;
    if (from_outside_) {
      const double falls = weight * exp(-kappa_ * (r - from_));
      sums.line[edge] += falls;
      if (d_ == 0) return;
      const double w = falls * d_ / rho2;
      sums.potential -= w * r / kappa_;
      sums.flux -= w * h_;
    } else {
      const double z = kappa_ * rho2 / (r + h_), falls = exp(-z);
      sums.line[edge] += weight * falls;
      if (d_ == 0) return;
      const double less = z < 0.5 ? -expm1(-z) : 1 - falls;
      sums.potential += weight * d_ * r * less / (kappa_ * rho2);
      sums.flux += weight * d_ * (1 / (r + h_) + h_ * less / rho2);
    }
  }

  const EdgeRule& rule_;
  double d_, h_, kappa_;
  YukawaPart part_;
  double from_;
  double most_;  ///< beyond this distance e^{−κr} does not count
  bool from_outside_;
  double distance2_;
};

/// What a triangle is seen like.
struct YukawaView : CornerView {
  LinePart edge[3];
  double farthest, distance;  ///< of a vertex; of the triangle
  bool inside = true;

  FMBEM_HD YukawaView(const Triangle& t, Vec3d x)
      : CornerView(t, x), farthest(fmax(fmax(r[0], r[1]), r[2])) {
    double to_boundary = farthest;
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3;
      const double d = edge_distance(t, k), a = dot(to[k], t.tangent[k]),
                   b = dot(to[next], t.tangent[k]), d2 = d * d + height * height,
                   beyond = fmax(fmax(a, -b), 0.0);
      edge[k] = {d, a, b, r[k], r[next], edge_log_ratio(a, b, r[k], r[next], t.length[k], d2)};
      inside = inside && d >= 0;
      to_boundary = fmin(to_boundary, sqrt(d2 + beyond * beyond));
    }
    distance = inside ? fabs(height) : to_boundary;
  }
};

/// Of a triangle, by closed forms and along its edges by the rule.
FMBEM_HD inline YukawaSums yukawa_closed_sums(const EdgeRule& rule, const Triangle& t, Vec3d x,
                                              const YukawaView& view, double kappa,
                                              YukawaPart which) {
  const double h = fabs(view.height);
  if (kappa * view.farthest <= yukawa_series_reach)
    return sum_yukawa_series(view.edge, 3, h, kappa, triangle_potential(t, x) / inv_4pi,
                             fabs(triangle_double_layer(t, x)) / inv_4pi, which);
  YukawaSums sums, complete;
  // Where it is not worth while, e^{−κh} is not left out: it leaves fewer poles.
  const bool from_outside = !view.inside && kappa * (view.distance - h) > yukawa_series_reach;
  const double from = from_outside ? view.distance : h;
  for (int k = 0; k < 3; ++k) {
    const LinePart& e = view.edge[k];
    const SideOfEdge side(rule, e.d, h, kappa, from, from_outside, which);
    if (e.b > 0) side.add(fmax(e.a, 0.0), e.b, sums, complete, k);
    if (e.a < 0) side.add(fmax(-e.b, 0.0), -e.a, sums, complete, k);
  }
  const double factor = exp(-kappa * from);
  YukawaSums all{complete.potential + factor * sums.potential, complete.flux + factor * sums.flux};
  for (int k = 0; k < 3; ++k) all.line[k] = complete.line[k] + factor * sums.line[k];
  return all;
}

}  // namespace fmbem
