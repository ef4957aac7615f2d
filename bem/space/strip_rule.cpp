#include "fmbem/bem/space/strip_rule.hpp"

#include <cmath>

#include "fmbem/bem/space/quadrature.hpp"

namespace fmbem {
namespace {

std::vector<StripRule> all_rules() {
  std::vector<StripRule> rules;
  for (int along = 1; along <= StripPoints::most_along; ++along)
    for (int across = 1; across <= StripPoints::most_across; ++across) {
      StripRule& rule = rules.emplace_back();
      gauss_legendre(along, rule.s, rule.s_weight);
      gauss_legendre(across, rule.eta, rule.eta_weight);
    }
  return rules;
}

/// n points have an error of 2 ρ^(−2n), where ρ = d + √(d² − 1) belongs to the ellipse through a
/// point d half extents away.
double least_side(int n, double tolerance) {
  const double ratio = std::pow(2 / tolerance, 0.5 / n);
  return 0.25 * (ratio + 1 / ratio);
}

}  // namespace

StripPoints::StripPoints(double tolerance) {
  for (int n = 0; n <= most_along; ++n) least_along[n] = n > 0 ? least_side(n, tolerance) : 0;
  for (int n = 0; n <= most_across; ++n) least_across[n] = n > 0 ? least_side(n, tolerance) : 0;
}

const StripRule& strip_rule(int along, int across) {
  static const std::vector<StripRule> rules = all_rules();
  return rules[(along - 1) * StripPoints::most_across + across - 1];
}

}  // namespace fmbem
