#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/oracles.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::oracles_agree_tests {

using fmm::harmonic_count;
using fmm::harmonic_index;

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// Uniform in the ball around the origin.
std::vector<Vec3d> ball_points(std::size_t n, double radius, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> points(n);
  for (Vec3d& x : points) x = radius * std::cbrt(uniform()) * sphere_point(uniform);
  return points;
}

std::vector<double> product(const std::vector<double>& matrix, const std::vector<double>& v) {
  std::vector<double> out(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) out[i] += matrix[i * v.size() + j] * v[j];
  return out;
}

/// Σ_i L_i S_i(x)
double evaluate(const std::vector<double>& L, Vec3d x, int p) {
  const auto s = harmonics_oracle(x, p);
  double sum = 0;
  for (std::size_t i = 0; i < s.size(); ++i) sum += L[i] * s[i];
  return sum;
}

/// Largest |a_i − b_i| over scale^n, n the degree of i.
double difference(const std::vector<double>& a, const std::vector<double>& b, double scale, int p) {
  double largest = 0;
  for (int n = 0; n <= p; ++n)
    for (int i = harmonic_index(n, -n); i <= harmonic_index(n, n); ++i)
      largest = larger_error(largest, std::abs(a[i] - b[i]) / std::pow(scale, n));
  return largest;
}

const std::vector<Vec3d> directions{{0, 0, -2}, {0, 0, 2},  {2, 0, 0},    {0, -3, 0},
                                    {2, 1, -1}, {-3, 2, 3}, {1e-3, 0, -2}};

}  // namespace

TEST_CASE("the recurrence gives the harmonics of the closed form") {
  const int p = 30;
  auto points = ball_points(200, 2, 1);
  points.insert(points.end(), {{0, 0, 1}, {0, 0, -1}, {1, 0, 0}, {0, -1, 0}});
  for (const double angle : {1e-3, 1e-2, 0.1})
    points.push_back({std::sin(angle), 0, std::cos(angle)});
  std::vector<double> s(harmonic_count(p));
  for (const Vec3d& x : points) {
    fmm::regular_harmonics(x, p, s.data());
    // The recurrence takes cos θ from z and the rounded r², and the slope of P_p in cos θ is at
    // most p(p+1)/2 and p/sin θ (Bernstein).
    const double slope = std::min(p * (p + 1) / 2.0, p * norm(x) / std::hypot(x.x, x.y));
    CHECK(difference(s, harmonics_oracle(x, p), norm(x), p) < slope * epsilon);
  }
  fmm::regular_harmonics(Vec3d{}, p, s.data());
  CHECK(s == harmonics_oracle({}, p));
}

TEST_CASE("expansion about one centre converges to 1/|x - y|") {
  const int p = GENERATE(0, 1, 4, 10, 20);
  const auto inner = ball_points(20, 1, 2), outer = sphere_points(20, 3);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const Vec3d x = inner[i], y = 1.5 * outer[i];
    const double ratio = norm(x) / norm(y);
    // The n-th term is |x|^n/|y|^(n+1) P_n(cos angle), and |P_n| <= 1.
    const double bound = std::pow(ratio, p + 1) / (norm(y) - norm(x));
    CHECK(std::abs(evaluate(local_of_point(y, p), x, p) - 1 / norm(x - y)) < bound + 1e-14);
  }
}

TEST_CASE("M2M moves the centre of the harmonics") {
  const int p = GENERATE(0, 1, 4, 10, 20);
  for (const double scale : {0.5, 1.0, 1.7}) {
    for (const Vec3d& t : directions) {
      const auto T = m2m_oracle(t, scale, p);
      for (const Vec3d& x : ball_points(5, 2, 4)) {
        // Both sides are at most (scale |x| + |t|)^n, and so are the products that are added up.
        const double size = scale * norm(x) + norm(t);
        CHECK(difference(product(T, harmonics_oracle(x, p)), harmonics_oracle(scale * x + t, p),
                         size, p) < 1e-14);
      }
    }
  }
}

TEST_CASE("M2L of a charge at the centre is the local expansion of a point") {
  const int p = GENERATE(0, 1, 4, 10, 20);
  for (const Vec3d& r : directions) {
    std::vector<double> M(harmonic_count(p));
    M[0] = 1;
    CHECK(difference(product(m2l_oracle(r, p), M), local_of_point(-r, p), 1 / norm(r), p) < 1e-15);
  }
}

TEST_CASE("M2L converges to 1/|r + x - y|") {
  const int p = GENERATE(0, 1, 4, 10, 20);
  const double b = 0.6, a = 0.5;  // largest |x| and |y|
  const auto xs = ball_points(20, b, 5), ys = ball_points(20, a, 6);
  for (const Vec3d& r : directions) {
    const double distance = norm(r), gap = distance - a - b;
    // The part of degree n in x and k in y is at most binomial(n+k, n) b^n a^k / |r|^(n+k+1): the
    // harmonic of degree n+k polarised (Banach 1938). Summed over n > p or k > p:
    const double bound =
        (std::pow(b / (distance - a), p + 1) + std::pow(a / (distance - b), p + 1)) / gap;
    const auto T = m2l_oracle(r, p);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double u = evaluate(product(T, harmonics_oracle(ys[i], p)), xs[i], p);
      CHECK(std::abs(u - 1 / norm(r + xs[i] - ys[i])) < bound + 1e-14);
    }
  }
}

TEST_CASE("M2L by rotation is the dense M2L") {
  const int p = GENERATE(0, 1, 4, 10, 20);
  const auto M = signed_charges(harmonic_count(p), 7);
  for (const Vec3d& r : directions) {
    const auto dense = product(m2l_oracle(r, p), M);
    const auto turned = m2l_by_rotation(r, p, M);
    for (int n = 0; n <= p; ++n) {
      double error = 0, size = 0;
      for (int i = harmonic_index(n, -n); i <= harmonic_index(n, n); ++i) {
        error = std::hypot(error, turned[i] - dense[i]);
        size = std::hypot(size, dense[i]);
      }
      CHECK(error < 1e-13 * size);
    }
  }
}

}  // namespace fmbem::test::oracles_agree_tests
