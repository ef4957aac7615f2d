#include "fmbem/bem/space/quadrature.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::quadrature_tests {

TEST_CASE("Gauss's rule integrates polynomials of degree 2n - 1") {
  const int n = GENERATE(1, 2, 3, 5, 9, 16, 33, 64);
  std::vector<double> node, weight;
  gauss_legendre(n, node, weight);
  for (int degree = 0; degree <= 2 * n - 1; ++degree) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += weight[k] * std::pow(node[k], degree);
    CHECK(sum == Approx(1.0 / (degree + 1)).epsilon(1e-13));
  }
}

namespace {

/// Whether a rule integrates all polynomials of a degree over the triangle.
void check_degree(const TriangleRule& rule, int degree) {
  for (int a = 0; a <= degree; ++a) {
    for (int b = 0; a + b <= degree; ++b) {
      double sum = 0;
      for (std::size_t q = 0; q < rule.weight.size(); ++q)
        sum += rule.weight[q] * std::pow(rule.xi[q], a) * std::pow(rule.eta[q], b);
      // 2 ∫ ξᵃ ηᵇ = 2 a! b! / (a + b + 2)!
      const double exact = 2 * std::tgamma(a + 1) * std::tgamma(b + 1) / std::tgamma(a + b + 3);
      CHECK(sum == Approx(exact).epsilon(1e-12));
    }
  }
}

}  // namespace

TEST_CASE("symmetric rules integrate polynomials of their degree") {
  for (const int degree : {1, 2, 5, 8}) check_degree(symmetric_rule(degree), degree);
}

TEST_CASE("the collapsed rule integrates polynomials of degree 2n - 2 over the triangle") {
  const int n = GENERATE(1, 2, 3, 4, 5, 6, 7, 9, 16);
  check_degree(collapsed_gauss(n), 2 * n - 2);
}

TEST_CASE("rules out of range are refused") {
  CHECK_THROWS_AS(collapsed_gauss(0), InputError);
  CHECK_THROWS_AS(collapsed_gauss(33), InputError);
  CHECK_THROWS_AS(symmetric_rule(3), InputError);
}

}  // namespace fmbem::test::quadrature_tests
