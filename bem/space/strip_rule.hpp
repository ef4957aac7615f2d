#pragma once

#include <vector>

#include "fmbem/bem/geometry/strip.hpp"

namespace fmbem {

/// Gauss's rules on (0, 1) along a strip and across it.
struct StripRule {
  std::vector<double> s, s_weight, eta, eta_weight;
};

/// How many points along and across a strip the rules for pieces' moments take, so that 1/r has a
/// given relative error a side away from the piece's middle; by the side over the extent.
struct StripPoints {
  static constexpr int most_along = 24, most_across = 8;
  /// The least side over the extent for which n points do.
  double least_along[most_along + 1], least_across[most_across + 1];

  explicit StripPoints(double tolerance);
  FMBEM_HD int along(double side, double length) const {
    int n = 1;
    while (n < most_along && side < least_along[n] * length) ++n;
    return n;
  }
  FMBEM_HD int across(double side, double width) const {
    int n = 1;
    while (n < most_across && side < least_across[n] * width) ++n;
    return n;
  }
};

/// With so many points along and across.
const StripRule& strip_rule(int along, int across);

/// Calls body(s, y, weight) for the points of a rule on a trapezoid. Weights are areas; points are
/// in the strip's coordinates, s without skew.
template <class Body>
void for_strip_points(const StripRule& rule, const StripPart& part, Body&& body) {
  const double length = part.b - part.a;
  for (std::size_t i = 0; i < rule.s.size(); ++i) {
    const double s = part.a + rule.s[i] * length,
                 height = part.first + rule.s[i] * (part.last - part.first);
    for (std::size_t k = 0; k < rule.eta.size(); ++k)
      body(s, rule.eta[k] * height, length * height * rule.s_weight[i] * rule.eta_weight[k]);
  }
}

}  // namespace fmbem
