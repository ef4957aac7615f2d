#include "fmbem/bem/near/yukawa_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/bem/near/yukawa_closed_form.hpp"
#include "fmbem/bem/space/quadrature.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"

namespace fmbem {
namespace {

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
    const YukawaView view(t, x);
    const YukawaSums sums = yukawa_closed_sums(edge_rule(), t, x, view, kappa_, which_);
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

EdgeRule::EdgeRule() {
  std::vector<double> nodes, weights;
  gauss_legendre(points, nodes, weights);
  std::copy(nodes.begin(), nodes.end(), node);
  std::copy(weights.begin(), weights.end(), weight);
}

const EdgeRule& edge_rule() {
  static const EdgeRule rule;
  return rule;
}

YukawaIntegrals yukawa_integrals(const Triangle& t, Vec3d x, double kappa, double tolerance,
                                 YukawaPart part) {
  YukawaSum sum(kappa, tolerance, part);
  const Piece whole{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area};
  const auto far = [&](const Piece& p, double distance2, double radius2) {
    return sum.far(p, t.normal, distance2, radius2);
  };
  if (far(whole, norm2(t.centroid - x), t.radius * t.radius)) return sum.value;
  // A point that lies on a cut through a sliver would take it for an edge.
  if (shape(t) > well_shaped || on_triangle(t, x, tolerance))
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
