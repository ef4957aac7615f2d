#include "fmbem/bem/quadrature.hpp"

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

}  // namespace fmbem
