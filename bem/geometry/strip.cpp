#include "fmbem/bem/geometry/strip.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fmbem/bem/space/quadrature.hpp"

namespace fmbem {

StripRules strip_rules(double tolerance) {
  constexpr int lines[StripRules::most_rules] = {1, 2, 3, 4, 6, StripRules::most_lines};
  constexpr double constant = 0.7;
  // Closer than this, a point may lie on one of the lines.
  constexpr double least_reach = 0.25;
  StripRules rules{};
  for (int rule = 0; rule < StripRules::most_rules; ++rule) {
    const int n = rules.lines[rule] = lines[rule];
    const double ratio = std::pow(constant / tolerance, 0.5 / n);
    rules.reach[rule] = std::max(least_reach, 0.25 * (ratio - 1 / ratio));
    std::vector<double> node, weight;
    gauss_legendre(n, node, weight);
    std::copy(node.begin(), node.end(), rules.eta[rule]);
    std::copy(weight.begin(), weight.end(), rules.weight[rule]);
  }
  return rules;
}

}  // namespace fmbem
