#include "fmbem/bem/space/quadrature.hpp"

#include <cmath>
#include <numbers>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

void gauss_legendre(int n, std::vector<double>& node, std::vector<double>& weight) {
  FMBEM_REQUIRE(n >= 1 && n <= 64, "Gauss's rule needs 1 to 64 points, not " << n);
  node.resize(n);
  weight.resize(n);
  for (int k = 0; k < n; ++k) {
    // Newton's method in extended precision, from Tricomi's first guess.
    long double x = std::cos(std::numbers::pi_v<long double> * (k + 0.75L) / (n + 0.5L));
    long double slope = 1;
    for (int step = 0; step < 8; ++step) {
      long double p = 1, previous = 0;
      for (int j = 1; j <= n; ++j) {
        const long double next = ((2 * j - 1) * x * p - (j - 1) * previous) / j;
        previous = p;
        p = next;
      }
      slope = n * (x * p - previous) / (x * x - 1);
      x -= p / slope;
    }
    node[k] = static_cast<double>((1 - x) / 2);
    weight[k] = static_cast<double>(1 / ((1 - x * x) * slope * slope));
  }
}

TriangleRule collapsed_gauss(int n) {
  FMBEM_REQUIRE(n <= 32, "the collapsed rule needs 1 to 32 points a side, not " << n);
  std::vector<double> node, weight;
  gauss_legendre(n, node, weight);
  TriangleRule rule;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      rule.xi.push_back(node[i]);
      rule.eta.push_back((1 - node[i]) * node[j]);
      rule.weight.push_back(2 * weight[i] * weight[j] * (1 - node[i]));
    }
  }
  return rule;
}

SymmetricRule symmetric_orbits(int degree) {
  switch (degree) {
    case 1:
      return {1, {}};
    case 2:
      return {0, {{1.0 / 6, 1.0 / 6, 1.0 / 3}}};
    case 5: {
      const double root = std::sqrt(15.0);
      return {9.0 / 40,
              {{(6 - root) / 21, (6 - root) / 21, (155 - root) / 1200},
               {(6 + root) / 21, (6 + root) / 21, (155 + root) / 1200}}};
    }
    case 8:
      return {0.144315607677787,
              {{0.459292588292723, 0.459292588292723, 0.095091634267285},
               {0.170569307751760, 0.170569307751760, 0.103217370534718},
               {0.050547228317031, 0.050547228317031, 0.032458497623198},
               {0.008394777409958, 0.263112829634638, 0.027230314174435}}};
    default:
      FMBEM_REQUIRE(false, "there is a symmetric rule of degree 1, 2, 5 and 8, not " << degree);
      return {};
  }
}

TriangleRule symmetric_rule(int degree) {
  const SymmetricRule symmetric = symmetric_orbits(degree);
  TriangleRule rule;
  const auto add = [&](double xi, double eta, double weight) {
    rule.xi.push_back(xi);
    rule.eta.push_back(eta);
    rule.weight.push_back(weight);
  };
  if (symmetric.centroid != 0) add(1.0 / 3, 1.0 / 3, symmetric.centroid);
  for (const auto& [a, b, weight] : symmetric.orbits) {
    const double c = 1 - a - b;
    add(a, b, weight);
    add(b, c, weight);
    add(c, a, weight);
    if (b == a) continue;
    add(b, a, weight);
    add(c, b, weight);
    add(a, c, weight);
  }
  return rule;
}

}  // namespace fmbem
