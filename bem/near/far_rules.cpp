#include "fmbem/bem/near/far_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fmbem {
namespace {

/// The largest C that fmbem-bench-integrals found from 1.5 radii on.
struct Candidate {
  TriangleRule rule;
  int degree;
  double potential, gradient, hessian;
};

const std::vector<Candidate>& candidates() {
  static const std::vector<Candidate> all{{symmetric_rule(1), 1, 0.19, 0.55, 1.05},
                                          {symmetric_rule(2), 2, 0.025, 0.13, 0.38},
                                          {symmetric_rule(5), 5, 1.05e-2, 0.078, 0.31},
                                          {symmetric_rule(8), 8, 9.5e-4, 9.6e-3, 0.052},
                                          {collapsed_gauss(6), 10, 2.2e-4, 3.0e-3, 0.02},
                                          {collapsed_gauss(7), 12, 6.0e-5, 9.7e-4, 7.3e-3},
                                          {collapsed_gauss(9), 16, 4.4e-6, 9.6e-5, 9.4e-4},
                                          {collapsed_gauss(11), 20, 3.3e-7, 9.3e-6, 1.1e-4}};
  return all;
}

/// The distance from which on the constants were measured, in radii.
constexpr double nearest = 1.5;

}  // namespace

double FarRule::reach_for(double kappa_radius, double spared) const {
  const double left = inverse_reach_of_rule(reach, degree, kappa_radius, spared);
  return left > 0 ? 1 / left : std::numeric_limits<double>::infinity();
}

const TriangleRule& densest_moment_rule() {
  static const TriangleRule rule = collapsed_gauss(16);
  return rule;
}

std::vector<FarRule> far_rules(double tolerance, FarKernel kernel) {
  std::vector<FarRule> rules;
  for (const Candidate& c : candidates()) {
    const double constant = kernel == FarKernel::potential  ? c.potential
                            : kernel == FarKernel::gradient ? c.gradient
                                                            : c.hessian;
    const double reach = std::max(nearest, std::pow(constant / tolerance, 1.0 / (c.degree + 1)));
    rules.push_back({reach, c.rule, c.degree});
    if (reach == nearest) break;  // more points would serve no nearer
  }
  return rules;
}

}  // namespace fmbem
