#include "fmbem/fmm/direct.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::direct_tests {

using fmm::direct_sum;
using fmm::Strengths;

namespace {

constexpr double four_pi = 4 * std::numbers::pi;

Vec3<long double> extended(Vec3d x) { return {x.x, x.y, x.z}; }

double potential(const std::vector<Vec3d>& sources, Vec3d x, const Strengths& strengths) {
  double u;
  direct_sum(sources, {&x, 1}, strengths, {.potential = {&u, 1}});
  return u;
}

Vec3d gradient(const std::vector<Vec3d>& sources, Vec3d x, const Strengths& strengths) {
  Vec3d g;
  direct_sum(sources, {&x, 1}, strengths, {.gradient = {&g, 1}});
  return g;
}

}  // namespace

TEST_CASE("field of one charge") {
  const std::vector<Vec3d> y{{1, 2, 3}};
  const std::vector<double> q{-3};
  const Vec3d r{2, -1, 2};
  CHECK(potential(y, y[0] + r, {.charges = q}) == Approx(-1 / four_pi).epsilon(1e-15));
  CHECK(norm(gradient(y, y[0] + r, {.charges = q}) - r / (9 * four_pi)) < 1e-16);
}

TEST_CASE("a dipole is the limit of two charges") {
  const std::vector<Vec3d> y{{1, 2, 3}}, d{{0.6, 0, -0.8}};
  const Vec3d x = y[0] + Vec3d{1, 1.5, -0.5};
  const double h = 1e-4, s = norm(x - y[0]) - h;
  const std::vector<Vec3d> ends{y[0] + h * d[0], y[0] - h * d[0]};
  const std::vector<double> q{0.5 / h, -0.5 / h};
  // Central differences of G are off by h²/6 times its third derivative, those of ∇G by h²/6 times
  // the fourth, and by rounding; the k-th derivative is at most k!/(4π s^(k+1)).
  CHECK(std::abs(potential(y, x, {.dipoles = d}) - potential(ends, x, {.charges = q})) <
        h * h / (four_pi * std::pow(s, 4)) + 1e-16 / h);
  CHECK(norm(gradient(y, x, {.dipoles = d}) - gradient(ends, x, {.charges = q})) <
        4 * h * h / (four_pi * std::pow(s, 5)) + 1e-16 / h);
}

TEST_CASE("the gradient is the derivative of the potential in the target") {
  const auto y = cube_points(20, 1), d = random_dipoles(20, 2);
  const auto q = signed_charges(20, 3);
  const Strengths strengths{.charges = q, .dipoles = d};
  const Vec3d x{1.5, -0.3, 0.8};
  const double h = 1e-4;
  double bound = 1e-15 / h;  // of rounding; the rest as above, with one order more for dipoles
  for (int j = 0; j < 20; ++j) {
    const double s = norm(x - y[j]) - h;
    bound += h * h / four_pi * (std::abs(q[j]) / std::pow(s, 4) + 4 * norm(d[j]) / std::pow(s, 5));
  }
  const Vec3d g = gradient(y, x, strengths);
  for (int axis = 0; axis < 3; ++axis) {
    Vec3d step;
    step[axis] = h;
    const double slope =
        (potential(y, x + step, strengths) - potential(y, x - step, strengths)) / (2 * h);
    CHECK(std::abs(g[axis] - slope) < bound);
  }
}

TEST_CASE("pairs that coincide contribute nothing") {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 2, 2}}, d{{1, 2, 3}, {-1, 0, 1}};
  const std::vector<double> q{5, 7};
  const std::vector<Vec3d> other{points[1]}, other_d{d[1]};
  const std::vector<double> other_q{q[1]};
  const Strengths all{.charges = q, .dipoles = d}, one{.charges = other_q, .dipoles = other_d};
  CHECK(potential(points, points[0], all) == potential(other, points[0], one));
  CHECK(gradient(points, points[0], all) == gradient(other, points[0], one));
  CHECK(potential(other, points[1], one) == 0);
  CHECK(gradient(other, points[1], one) == Vec3d{});
}

TEST_CASE("compensation keeps what cancels") {
  const int n = 40000;
  const auto y = cube_points(n, 4), d = random_dipoles(n, 5);
  std::vector<double> q(n, 1.0);
  std::fill(q.begin() + n / 2, q.end(), -1.0);
  const Vec3d x{2, 2, 2};

  long double exact = 0, exact_slope = 0;
  double naive = 0, size = 0, slope_size = 0;  // sizes: of the terms' magnitudes
  for (int j = 0; j < n; ++j) {
    const Vec3<long double> r = extended(x) - extended(y[j]), moment = extended(d[j]);
    const long double length = norm(r), r3 = length * length * length, along = dot(moment, r);
    const long double term = (q[j] / length + along / r3) / four_pi;
    exact += term;
    exact_slope += (moment.x - (q[j] + 3 * along / norm2(r)) * r.x) / r3 / four_pi;
    naive += static_cast<double>(term);
    const double s = norm(x - y[j]);
    size += (1 / s + norm(d[j]) / (s * s)) / four_pi;
    slope_size += (1 / (s * s) + 4 * norm(d[j]) / (s * s * s)) / four_pi;
  }
  const Strengths strengths{.charges = q, .dipoles = d};
  CHECK(std::abs(static_cast<double>(potential(y, x, strengths) - exact)) < 4e-16 * size);
  CHECK(std::abs(static_cast<double>(gradient(y, x, strengths).x - exact_slope)) <
        4e-16 * slope_size);
  CHECK(std::abs(static_cast<double>(naive - exact)) > 4e-16 * size);
}

TEST_CASE("each right-hand side has its own sum") {
  const int n = 30, m = 7, count = 3;
  const auto y = cube_points(n, 6), x = cube_points(m, 7), d = random_dipoles(count * n, 8);
  const auto q = signed_charges(count * n, 9);
  std::vector<double> u(count * m);
  std::vector<Vec3d> g(count * m);
  direct_sum(y, x, {q, d, count}, {u, g});
  for (int k = 0; k < count; ++k) {
    const Strengths one{.charges = std::span(q).subspan(k * n, n),
                        .dipoles = std::span(d).subspan(k * n, n)};
    for (int i = 0; i < m; ++i) {
      CHECK(u[k * m + i] == potential(y, x[i], one));
      CHECK(g[k * m + i] == gradient(y, x[i], one));
    }
  }
}

TEST_CASE("direct sums of nothing are zero") {
  CHECK(potential({}, {1, 2, 3}, {}) == 0);
  CHECK(gradient({{1, 1, 1}}, {1, 2, 3}, {}) == Vec3d{});
}

TEST_CASE("direct sums are those of any unit of length") {
  const auto y = cube_points(30, 12), x = cube_points(7, 13);
  const auto q = signed_charges(30, 14);
  const double kappa = 0.7, softening = 0.1;
  std::vector<double> u(7), v(7);
  std::vector<Vec3d> g(7), h(7);
  direct_sum(y, x, {.charges = q}, {u, g}, kappa, softening);
  for (const int power : {-560, -400, 400, 560}) {  // 2^560 is 4e168
    const double unit = std::ldexp(1.0, power);
    std::vector<Vec3d> far_y, far_x;
    for (const Vec3d& place : y) far_y.push_back(unit * place);
    for (const Vec3d& place : x) far_x.push_back(unit * place);
    direct_sum(far_y, far_x, {.charges = q}, {v, h}, kappa / unit, unit * softening);
    CAPTURE(power);
    for (int i = 0; i < 7; ++i) {
      CHECK(unit * v[i] == u[i]);
      if (std::abs(power) < 500) CHECK(unit * (unit * h[i]) == g[i]);  // else out of range
    }
  }
}

TEST_CASE("direct sums refuse sizes that do not belong together") {
  const auto y = cube_points(3, 10), x = cube_points(2, 11);
  std::vector<double> q(6), u(4);
  std::vector<Vec3d> d(6), g(4);
  const auto refused = [&](const Strengths& strengths, const fmm::Fields& fields,
                           const std::string& sentence) {
    CHECK_THROWS_AS(direct_sum(y, x, strengths, fields), InputError);
    CHECK_THROWS_WITH(direct_sum(y, x, strengths, fields), contains(sentence));
  };
  CHECK_NOTHROW(direct_sum(y, x, {q, d, 2}, {u, g}));
  refused({q, d, 0}, {u, g}, "one right-hand side or more, not 0");
  refused({q, d, -1}, {u, g}, "one right-hand side or more, not -1");
  refused({std::span(q).first(5), d, 2}, {u, g},
          "there are 5 charges, but 2 right-hand sides at 3 sources need 6");
  refused({q, std::span(d).first(3), 2}, {u, g}, "there are 3 dipoles, but 2 right-hand sides");
  refused({q, d, 2}, {std::span(u).first(3), g},
          "there are 3 potentials, but 2 right-hand sides at 2 targets need 4");
  refused({q, d, 2}, {u, std::span(g).first(1)}, "there are 1 gradients");
  CHECK_THROWS_WITH(direct_sum(y, x, {q, d, 2}, {u, g}, -1), contains("κ must be positive"));
}

}  // namespace fmbem::test::direct_tests
