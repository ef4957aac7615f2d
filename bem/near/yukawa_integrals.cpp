#include "fmbem/bem/near/yukawa_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/near/corner_view.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"

namespace fmbem {
namespace {

/// κr up to which the series serves: its terms are up to e² times as large as the sum.
constexpr double series_reach = 2;
/// e^{−κr} beyond is below all rounding.
constexpr double negligible = 40;

/// A part of an edge's line, from place a to b as seen from the foot of x.
struct LinePart {
  double d;  ///< of the projection of x inside the line
  double a, b, r_a, r_b;
  double log_ratio;  ///< ∫ ds/r
};

/// 4π times what is integrated; `line` is ∫ e^{−κr}/r ds of the parts.
struct Sums {
  double potential = 0, flux = 0, line[3] = {0, 0, 0};
};

/// Σ_k (−κ)^k/k! times ∫ r^{k−1} dS and, for the flux, −∂/∂h of it, over the region of polar angles
/// of `n` parts: from k = 0 on, or from 1. With ds, s, d and h as above, and m = k − 1,
///
///     (m+1) ∫ r^m ds = [s r^m] + m (d² + h²) ∫ r^{m−2} ds,
///     (m+2) ∫ r^m dS = Σ d ∫ r^m ds + m h² ∫ r^{m−2} dS     (Gauss' theorem for ρ⃗ r^m).
///
/// `of_laplace` is ∫ dS/r, `angle` the solid angle.
Sums sum_series(const LinePart* parts, int n, double h, double kappa, double of_laplace,
                double angle, YukawaPart which) {
  // Lengths are in 1/κ, so that no power of them overflows.
  Sums sums;
  double line[3][2], surface[2] = {kappa * of_laplace, 0}, power_a[3], power_b[3], farthest = 0;
  const double height = kappa * h;
  for (int e = 0; e < n; ++e) {
    const LinePart& p = parts[e];
    // On the line itself ∫ ds/r is infinite, and counts 0 times.
    line[e][0] = p.d == 0 && h == 0 ? 0 : p.log_ratio;
    line[e][1] = 0;
    power_a[e] = power_b[e] = kappa;
    farthest = std::max({farthest, kappa * p.r_a, kappa * p.r_b});
  }
  double factor = 1, size = farthest;  // (−1)^k/k!, and what the term is at the most
  for (int k = 1; size > 1e-18; ++k, size *= farthest / k) {
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

struct GaussRule {
  static constexpr int points = 12;
  std::vector<double> node, weight;
  GaussRule() { gauss_legendre(points, node, weight); }
};

/// The integrals along one side of an edge's foot, 0 ≤ a < b: those of e^{−κh} − e^{−κr} or, seen
/// from outside, of −e^{−κr}.
class SideOfEdge {
 public:
  /// `from`: the distance whose e^{−κr} is taken out as a factor, h or that of the triangle.
  SideOfEdge(double d, double h, double kappa, double from, bool from_outside, YukawaPart part)
      : d_(d),
        h_(h),
        kappa_(kappa),
        part_(part),
        from_(from),
        most_(from + negligible / kappa),
        from_outside_(from_outside),
        distance2_(d * d + h * h) {}

  /// Adds to sums without their factor, and what the series has to `complete`.
  void add(double a, double b, Sums& sums, Sums& complete, int edge) const {
    const double least = series_reach / kappa_;
    if (!from_outside_ && distance2_ < least * least) {
      const double end = std::min(b, std::sqrt(least * least - distance2_));
      if (end > a) {
        add_series(a, end, complete, edge);
        a = end;
      }
    }
    if (a >= b) return;
    if (part_ == YukawaPart::less_laplace) subtract_laplace(a, b, complete, edge);
    const double end =
        most_ * most_ > distance2_ ? std::min(b, std::sqrt(most_ * most_ - distance2_)) : 0;
    if (end > a) add_by_rule(a, end, sums, edge);
    const double from = std::max(a, end);
    if (from_outside_ || from >= b || d_ == 0) return;
    const double angle = std::atan2(d_ * (b - from), d_ * d_ + from * b);
    sums.potential += angle / kappa_;
    sums.flux += angle;
  }

 private:
  double radius(double s) const { return std::sqrt(s * s + distance2_); }

  /// What Laplace's kernel has: along the line, over the surface, and the solid angle.
  struct OfLaplace {
    double line, surface, angle;
  };
  OfLaplace laplace(const LinePart& part) const {
    if (d_ == 0) return {part.log_ratio, 0, 0};
    const double angle = std::atan(d_ * part.b / (distance2_ + h_ * part.r_b)) -
                         std::atan(d_ * part.a / (distance2_ + h_ * part.r_a));
    return {part.log_ratio, d_ * part.log_ratio - h_ * angle, angle};
  }
  /// Infinite where x lies on the edge: a = d = h = 0.
  LinePart line_part(double a, double b) const {
    const double r_a = radius(a), r_b = radius(b);
    return {d_, a, b, r_a, r_b, std::log1p((b - a) * (1 + (a + b) / (r_a + r_b)) / (r_a + a))};
  }

  void subtract_laplace(double a, double b, Sums& complete, int edge) const {
    const OfLaplace less = laplace(line_part(a, b));
    complete.line[edge] -= less.line;
    complete.potential -= less.surface;
    complete.flux -= less.angle;
  }

  void add_series(double a, double b, Sums& complete, int edge) const {
    const LinePart part = line_part(a, b);
    const OfLaplace of_laplace = laplace(part);
    const Sums part_sums =
        sum_series(&part, 1, h_, kappa_, of_laplace.surface, of_laplace.angle, part_);
    complete.potential += part_sums.potential;
    complete.flux += part_sums.flux;
    complete.line[edge] += part_sums.line[0];
  }

  void add_by_rule(double a, double b, Sums& sums, int edge) const {
    static const GaussRule rule;
    double r_a = radius(a), left = line_part(a, b).log_ratio;
    // Seen from outside, integrands have poles at s = ±id, where t = i arcsin(d/√(d² + h²)).
    const double pole = std::asin(std::min(1.0, std::abs(d_) / std::sqrt(distance2_)));
    while (left > 0) {
      // κr grows by some 10 at the most, as κs t + κr t²/2.
      double width = std::min({1.0, 3 / std::sqrt(kappa_ * r_a), a > 0 ? 8 / (kappa_ * a) : 1.0});
      if (from_outside_ && d_ != 0) {
        const double t = std::asinh(a / std::sqrt(distance2_));
        width = std::min(width, 0.9 * std::sqrt(t * t + pole * pole));
      }
      if (width > 0.75 * left) width = left;
      // r + s grows as e^t, and r − s falls.
      const double sum = r_a + a, difference = distance2_ / sum;
      for (int q = 0; q < GaussRule::points; ++q) {
        const double up = 0.5 * sum * std::exp(width * rule.node[q]),
                     down = 0.25 * sum * difference / up;
        add_point(up - down, up + down, width * rule.weight[q], sums, edge);
      }
      const double up = 0.5 * sum * std::exp(width), down = 0.25 * sum * difference / up;
      a = up - down;
      r_a = up + down;
      left = width < left ? left - width : 0;
    }
  }

  void add_point(double s, double r, double weight, Sums& sums, int edge) const {
    const double rho2 = d_ * d_ + s * s;
    if (from_outside_) {
      const double falls = weight * std::exp(-kappa_ * (r - from_));
      sums.line[edge] += falls;
      if (d_ == 0) return;
      const double w = falls * d_ / rho2;
      sums.potential -= w * r / kappa_;
      sums.flux -= w * h_;
    } else {
      const double z = kappa_ * rho2 / (r + h_), falls = std::exp(-z);
      sums.line[edge] += weight * falls;
      if (d_ == 0) return;
      const double less = z < 0.5 ? -std::expm1(-z) : 1 - falls;
      sums.potential += weight * d_ * r * less / (kappa_ * rho2);
      sums.flux += weight * d_ * (1 / (r + h_) + h_ * less / rho2);
    }
  }

  double d_, h_, kappa_;
  YukawaPart part_;
  double from_;
  double most_;  ///< beyond this distance e^{−κr} does not count
  bool from_outside_;
  double distance2_;
};

/// What a triangle is seen like.
struct View : CornerView {
  LinePart edge[3];
  double farthest, distance;  ///< of a vertex; of the triangle
  bool inside = true;

  View(const Triangle& t, Vec3d x) : CornerView(t, x), farthest(std::max({r[0], r[1], r[2]})) {
    double to_boundary = farthest;
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3;
      const double d = edge_distance(t, k), a = dot(to[k], t.tangent[k]),
                   b = dot(to[next], t.tangent[k]), d2 = d * d + height * height,
                   beyond = std::max({a, -b, 0.0});
      edge[k] = {d, a, b, r[k], r[next], edge_log_ratio(a, b, r[k], r[next], t.length[k], d2)};
      inside = inside && d >= 0;
      to_boundary = std::min(to_boundary, std::sqrt(d2 + beyond * beyond));
    }
    distance = inside ? std::abs(height) : to_boundary;
  }
};

Sums closed_sums(const Triangle& t, Vec3d x, const View& view, double kappa, YukawaPart which) {
  const double h = std::abs(view.height);
  if (kappa * view.farthest <= series_reach)
    return sum_series(view.edge, 3, h, kappa, triangle_potential(t, x) / inv_4pi,
                      std::abs(triangle_double_layer(t, x)) / inv_4pi, which);
  Sums sums, complete;
  // Where it is not worth while, e^{−κh} is not left out: it leaves fewer poles.
  const bool from_outside = !view.inside && kappa * (view.distance - h) > series_reach;
  const double from = from_outside ? view.distance : h;
  for (int k = 0; k < 3; ++k) {
    const LinePart& e = view.edge[k];
    const SideOfEdge side(e.d, h, kappa, from, from_outside, which);
    if (e.b > 0) side.add(std::max(e.a, 0.0), e.b, sums, complete, k);
    if (e.a < 0) side.add(std::max(-e.b, 0.0), -e.a, sums, complete, k);
  }
  const double factor = std::exp(-kappa * from);
  Sums all{complete.potential + factor * sums.potential, complete.flux + factor * sums.flux};
  for (int k = 0; k < 3; ++k) all.line[k] = complete.line[k] + factor * sums.line[k];
  return all;
}

/// Integrals by a rule, over the area, and up to 1/(4π): as G is symmetric, what a charge at the
/// origin gives at the rule's points.
class RuleSums {
 public:
  double potential = 0, slope = 0;  ///< slope: Σ of −g'(r)/r
  Vec3d gradient{};

  RuleSums(const TriangleRule& rule, double kappa, YukawaPart part, Vec3d d, Vec3d e1, Vec3d e2)
      : n_(static_cast<int>(rule.weight.size())),
        padded_(fmm::whole_registers(fmm::cpu_kernels<double>(), n_)) {
    for (int q = 0; q < padded_; ++q) {
      const int k = std::min(q, n_ - 1);
      x_[q] = d.x + rule.xi[k] * e1.x + rule.eta[k] * e2.x;
      y_[q] = d.y + rule.xi[k] * e1.y + rule.eta[k] * e2.y;
      z_[q] = d.z + rule.xi[k] * e1.z + rule.eta[k] * e2.z;
    }
    part == YukawaPart::all ? evaluate(kappa) : evaluate_less_laplace(kappa);
    for (int q = 0; q < n_; ++q) {
      const double w = rule.weight[q];
      potential += w * potential_[q];
      slope += w * slope_[q];
      gradient += (w * slope_[q]) * Vec3d{x_[q], y_[q], z_[q]};
    }
  }

 private:
  static constexpr int most = 256;

  void evaluate(double kappa) {
    std::fill_n(potential_, padded_, 0.0);
    for (double* axis : {gx_, gy_, gz_}) std::fill_n(axis, padded_, 0.0);
    const double origin = 0, one = 1;
    fmm::pair_kernels<double, fmm::Yukawa>().near(
        fmm::Yukawa{kappa}, 1, 3, {1, &origin, &origin, &origin, &one, nullptr, nullptr, nullptr},
        {padded_, x_, y_, z_, potential_, gx_, gy_, gz_, nullptr});
    for (int q = 0; q < n_; ++q)
      slope_[q] = -(gx_[q] * x_[q] + gy_[q] * y_[q] + gz_[q] * z_[q]) /
                  (x_[q] * x_[q] + y_[q] * y_[q] + z_[q] * z_[q]);
  }

  /// (e^{−u} − 1)/r and ((1 + u) e^{−u} − 1)/r³, u = κr.
  void evaluate_less_laplace(double kappa) {
    for (int q = 0; q < n_; ++q) {
      const double r2 = x_[q] * x_[q] + y_[q] * y_[q] + z_[q] * z_[q], r = std::sqrt(r2),
                   u = kappa * r;
      potential_[q] = std::expm1(-u) / r;
      slope_[q] = less_one(u) / (r * r2);
    }
  }

  /// (1 + u) e^{−u} − 1 = Σ_k −(k−1) (−u)^k/k!
  static double less_one(double u) {
    if (u > 1) return (1 + u) * std::exp(-u) - 1;
    double sum = 0, term = -u;
    for (int k = 2; k < 20; ++k) {
      term *= -u / k;
      sum -= (k - 1) * term;
    }
    return sum;
  }

  int n_, padded_;
  double x_[most], y_[most], z_[most], potential_[most], slope_[most], gx_[most], gy_[most],
      gz_[most];
};

/// Adds up the pieces of a triangle, as for_sliver_pieces() hands them out.
class YukawaSum {
 public:
  YukawaSum(double kappa, double tolerance, YukawaPart which)
      : kappa_(kappa), tolerance_(tolerance), which_(which) {}
  YukawaIntegrals value;

  bool far(const Piece& p, Vec3d normal, double distance2, double radius2) {
    static const std::vector<FarRule> rules = far_rules(1e-13, FarKernel::gradient);
    const double radius = std::sqrt(radius2);
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const FarRule& far) {
      const double reach = far.reach_for(kappa_ * radius);
      return distance2 >= reach * reach * radius2;
    });
    if (rule == rules.end()) return false;
    const RuleSums sums(rule->rule, kappa_, which_, p.d[0], p.d[1] - p.d[0], p.d[2] - p.d[0]);
    const double scale = inv_4pi * p.area;
    value.potential += scale * sums.potential;
    value.gradient += scale * sums.gradient;
    value.double_layer -= scale * sums.slope * dot(p.d[0], normal);
    return true;
  }

  void near(const Triangle& t, Vec3d x) {
    const View view(t, x);
    const Sums sums = closed_sums(t, x, view, kappa_, which_);
    value.potential += inv_4pi * sums.potential;
    const double sign = view.height > 0   ? 1
                        : view.height < 0 ? -1
                                          : 0,
                 flux = sign * inv_4pi * sums.flux;
    value.double_layer += flux;
    if (std::abs(view.height) > tolerance_) value.gradient -= flux * t.normal;
    for (int k = 0; k < 3; ++k) value.gradient -= inv_4pi * sums.line[k] * t.outward[k];
  }

 private:
  double kappa_, tolerance_;
  YukawaPart which_;
};

bool is_on_edge(const Triangle& t, Vec3d x, double tolerance) {
  if (!on_triangle(t, x, tolerance)) return false;
  for (int k = 0; k < 3; ++k)
    if (std::abs(dot(x - t.vertex[k], t.outward[k])) <= tolerance) return true;
  return false;
}

}  // namespace

YukawaIntegrals yukawa_integrals(const Triangle& t, Vec3d x, double kappa, double tolerance,
                                 YukawaPart part) {
  YukawaSum sum(kappa, tolerance, part);
  const Piece whole{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area};
  const auto far = [&](const Piece& p, double distance2, double radius2) {
    return sum.far(p, t.normal, distance2, radius2);
  };
  if (far(whole, norm2(t.centroid - x), t.radius * t.radius)) return sum.value;
  if (shape(t) > well_shaped)
    sum.near(t, x);
  else
    for_sliver_pieces(whole, far, [&](const Triangle& p) { sum.near(p, {}); });
  if (part == YukawaPart::all && is_on_edge(t, x, tolerance)) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    sum.value.gradient = {nan, nan, nan};
  }
  return sum.value;
}

}  // namespace fmbem
