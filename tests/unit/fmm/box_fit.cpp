#include "fmbem/fmm/expansion/box_fit.hpp"

#include <cmath>

#include "fmbem/fmm/expansion/translations.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/oracles.hpp"
#include "tests/unit/fmm/parity.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::box_fit_tests {
using namespace fmm;

namespace {

double quadratic_form(const std::vector<double>& a, const std::vector<double>& x,
                      const std::vector<double>& m) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < m.size(); ++j) sum += x[i] * a[i * m.size() + j] * m[j];
  return sum;
}

}  // namespace

TEST_CASE("the fit leaves an operator without higher degrees alone") {
  const ParityOrder low(3), high(6);
  const BoxFit fit(low, high);
  std::vector<double> x(static_cast<std::size_t>(high.count) * high.count);
  for (int i = 0; i < high.count; ++i)
    for (int j = 0; j < high.count; ++j)
      if (high.degree[i] <= 3 && high.degree[j] <= 3)
        x[i * high.count + j] = 1 + high.degree[i] + 10 * high.azimuth[j];
  BoxFit::Room room;
  const std::vector<double> projected = fit.project(x, room);
  for (int i = 0; i < low.count; ++i)
    for (int j = 0; j < low.count; ++j)
      REQUIRE(projected[i * low.count + j] == 1 + low.degree[i] + 10 * low.azimuth[j]);
}

TEST_CASE("the guess of higher moments is orthogonal to the lower harmonics over the cube") {
  // For the operator X that picks out one harmonic q of high degree, Bᵀ X B = b bᵀ with its guess
  // b. What is left, S_q − b · S, must be orthogonal to all S of low degree. White noise in the
  // cube, here 20,000 points, shows that to 1/√20,000 of the norms.
  const int p = 3;
  const ParityOrder low(p), high(p + 2);
  const BoxFit fit(low, high);
  const int n = 20'000;
  std::vector<std::vector<double>> high_at, low_at;
  for (const Vec3d& point : cube_points(n, 5)) {
    const Vec3d centred = point - Vec3d{0.5, 0.5, 0.5};
    high_at.push_back(by_parity(high, harmonics_oracle(centred, p + 2)));
    low_at.push_back(by_parity(low, harmonics_oracle(centred, p)));
  }
  for (int q = 0; q < high.count; ++q) {
    if (high.degree[q] <= p) continue;
    std::vector<double> x(static_cast<std::size_t>(high.count) * high.count);
    x[q * high.count + q] = 1;
    BoxFit::Room room;
    const std::vector<double> square = fit.project(x, room);
    // The row with the largest diagonal entry is b times b's entry there.
    int largest = 0;
    for (int i = 0; i < low.count; ++i)
      if (square[i * low.count + i] > square[largest * low.count + largest]) largest = i;
    const double root = std::sqrt(square[largest * low.count + largest]);
    std::vector<double> b(low.count), products(low.count), norms(low.count);
    if (root > 0)
      for (int i = 0; i < low.count; ++i) b[i] = square[largest * low.count + i] / root;
    double best = 1e300;
    for (const double sign : {1.0, -1.0}) {
      double remainder2 = 0;
      products.assign(low.count, 0);
      norms.assign(low.count, 0);
      for (int k = 0; k < n; ++k) {
        const std::vector<double>& s_low = low_at[k];
        double remainder = high_at[k][q];
        for (int i = 0; i < low.count; ++i) remainder -= sign * b[i] * s_low[i];
        remainder2 += remainder * remainder;
        for (int i = 0; i < low.count; ++i) {
          products[i] += remainder * s_low[i];
          norms[i] += s_low[i] * s_low[i];
        }
      }
      double worst = 0;
      for (int i = 0; i < low.count; ++i)
        worst = larger_error(worst, std::abs(products[i]) / std::sqrt(remainder2 * norms[i]));
      best = std::min(best, worst);
    }
    REQUIRE(best < 5 / std::sqrt(n));
  }
}

TEST_CASE("fitted M2L is more accurate than the truncated series") {
  // Boxes two sides apart, with 200 sources and targets each, as white noise, and eight charge
  // vectors: root mean square errors over some thousand values.
  const int n = 200, vectors = 8;
  const Vec3d half{0.5, 0.5, 0.5};
  const std::vector<double> charges = signed_charges(vectors * n, 3);
  const auto sources = cube_points(n, 1), targets = cube_points(n, 2);
  for (const int p : {8, 12}) {
    const ParityOrder low(p), high(fitted_degree(p));
    const BoxFit fit(low, high);
    double truncated_error = 0, fitted_error = 0, size = 0;
    for (const Vec3d r : {Vec3d{2, 0, 0}, Vec3d{-2, 1, 1}, Vec3d{0, -2, 2}}) {
      const auto operator_of = [&](int order) {
        return matrix_by_parity(ParityOrder(order), m2l_oracle(r, order));
      };
      const std::vector<double> truncated = operator_of(p);
      BoxFit::Room room;
      const std::vector<double> fitted = fit.project(operator_of(high.p), room);
      for (int v = 0; v < vectors; ++v) {
        std::vector<double> moments(low.count);
        for (int j = 0; j < n; ++j) {
          const auto s = by_parity(low, harmonics_oracle(sources[j] - half, p));
          for (int i = 0; i < low.count; ++i) moments[i] += charges[v * n + j] * s[i];
        }
        for (const Vec3d& target : targets) {
          double exact = 0;
          for (int j = 0; j < n; ++j) exact += charges[v * n + j] / norm(r + target - sources[j]);
          const auto s = by_parity(low, harmonics_oracle(target - half, p));
          truncated_error += std::pow(quadratic_form(truncated, s, moments) - exact, 2);
          fitted_error += std::pow(quadratic_form(fitted, s, moments) - exact, 2);
          size += exact * exact;
        }
      }
    }
    // The worst corners converge like 0.76^p: (√3/2) / (2 − √3/2).
    REQUIRE(std::sqrt(truncated_error / size) < std::pow(0.76, p));
    REQUIRE(fitted_error < 0.5 * truncated_error);
  }
}

}  // namespace fmbem::test::box_fit_tests
