// Plans of Yukawa's kernel on the GPU against direct sums of their own.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_yukawa_plan_tests {

using cuda::make_fmm_plan;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;

struct Strengths {
  std::vector<double> charges;
  Points dipoles;
};

struct Field {
  double potential = 0;
  Vec3d gradient;
};

/// Σ_j (q_j + p_j·∇_y) G(x, y_j), G = exp(−κr)/(4πr), and its gradient in x, but for y_j = x; of
/// the v-th strengths. With d = x − y: ∇_y G = −G' d/r, and second derivatives of G in x are G' (I
/// − d dᵀ/r²)/r + G'' d dᵀ/r², G' = −(1 + κr) G/r, G'' = (2 + 2κr + κ²r²) G/r².
Field direct(const Points& y, const Strengths& s, int v, double kappa, Vec3d x) {
  constexpr double inv_4pi = 0.079577471545947667884;
  Field sum;
  for (std::size_t j = 0; j < y.size(); ++j) {
    const Vec3d d = x - y[j];
    const double r = norm(d);
    if (r == 0) continue;
    const double z = kappa * r, g = inv_4pi * std::exp(-z) / r, first = -(1 + z) * g / r,
                 second = (2 + 2 * z + z * z) * g / (r * r);
    if (!s.charges.empty()) {
      const double q = s.charges[v * y.size() + j];
      sum.potential += q * g;
      sum.gradient += (q * first / r) * d;
    }
    if (!s.dipoles.empty()) {
      const Vec3d p = s.dipoles[v * y.size() + j];
      const double along = dot(p, d) / r;
      sum.potential -= first * along;
      sum.gradient -= (first / r) * p + ((second - first / r) * along / r) * d;
    }
  }
  return sum;
}

struct Case {
  const Points& sources;
  const Points& targets;
  double kappa, tolerance;
  bool gradient = false, dipoles = false, charges = true;
  int vectors = 1;
  fmm::Method method = fmm::Method::fmm;
};

/// Errors at some targets, relative in the L2 norm, are within the tolerance.
void check_errors(const Case& c) {
  PlanOptions options{.tolerance = c.tolerance, .kappa = c.kappa, .gradient = c.gradient};
  options.dipoles = c.dipoles;
  options.method = c.method;
  // So few points would be summed directly.
  if (c.method == fmm::Method::fmm) options.max_leaf = c.tolerance < 1e-8 ? 120 : 50;
  const fmm::Plan plan = &c.sources == &c.targets ? make_fmm_plan(c.sources, options)
                                                  : make_fmm_plan(c.sources, c.targets, options);
  const std::size_t n = c.sources.size(), m = c.targets.size();
  Strengths s;
  if (c.charges) s.charges = signed_charges(c.vectors * n, 5);
  if (c.dipoles) s.dipoles = random_dipoles(c.vectors * n, 6);
  std::vector<double> potential(c.vectors * m);
  Points gradient(c.gradient ? c.vectors * m : 0);
  plan.evaluate({s.charges, s.dipoles, c.vectors}, {potential, gradient, {}});
  for (int v = 0; v < c.vectors; ++v) {
    double error = 0, size = 0, gradient_error = 0, gradient_size = 0;
    // At the highest orders one target in 400, close to a box's corner, makes most of the error: a
    // hundred do not tell the norm.
    const std::size_t step = c.tolerance < 1e-11 ? 1 : m / 100;
    for (std::size_t i = 0; i < m; i += step) {
      const Field exact = direct(c.sources, s, v, c.kappa, c.targets[i]);
      error = std::hypot(error, potential[v * m + i] - exact.potential);
      size = std::hypot(size, exact.potential);
      if (!c.gradient) continue;
      gradient_error = std::hypot(gradient_error, norm(gradient[v * m + i] - exact.gradient));
      gradient_size = std::hypot(gradient_size, norm(exact.gradient));
    }
    CAPTURE(c.kappa, c.tolerance, c.dipoles, v, plan.info().order, plan.info().levels);
    CHECK(error <= c.tolerance * size);
    if (c.gradient) CHECK(gradient_error <= c.tolerance * gradient_size);
  }
}

/// Values of κ times the extent; operators of the highest orders take long to make.
std::vector<double> kappas(double tolerance) {
  if (tolerance < 1e-8) return {1e-9, 6.0, 1000.0};
  return {1e-9, 1.0, 6.0, 100.0, 1000.0};
}

}  // namespace

TEST_CASE("Yukawa's potentials on the GPU keep the tolerance for every kappa") {
  if (!gpu_is_there()) return;
  const double tolerance = GENERATE(1e-2, 1e-3, 1e-5, 1e-6, 1e-7, 1e-9);
  std::vector<const char*> names{"cube", "sphere"};
  if (tolerance >= 1e-6) names.insert(names.end(), {"ellipsoid", "plummer"});
  for (const char* const name : names) {
    INFO(name);
    const Points points = points_by_name(name, 9000, 4);
    for (const double of_extent : kappas(tolerance))
      check_errors({points, points, of_extent / extent(points), tolerance});
  }
}

TEST_CASE("Yukawa's gradients and dipoles on the GPU keep the tolerance for every kappa") {
  if (!gpu_is_there()) return;
  const double tolerance = GENERATE(1e-3, 1e-5, 1e-6, 1e-9);
  for (const char* const name : {"cube", "sphere"}) {
    INFO(name);
    const Points points = points_by_name(name, 8000, 7);
    for (const double of_extent : kappas(tolerance)) {
      const double kappa = of_extent / extent(points);
      check_errors({points, points, kappa, tolerance, true});
      check_errors({points, points, kappa, tolerance, true, true});
    }
  }
}

TEST_CASE("Yukawa's plans on the GPU keep a tolerance of 1e-12") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(9000, 8);
  for (const double kappa : {1e-9, 6.0, 1000.0}) check_errors({points, points, kappa, 1e-12});
  check_errors({points, points, 6, 1e-12, true, true});
}

TEST_CASE("Yukawa's plans on the GPU take other targets and several right-hand sides") {
  if (!gpu_is_there()) return;
  const Points sources = sphere_points(12000, 5), targets = cube_points(7000, 6);
  for (const double tolerance : {1e-4, 1e-8})
    for (const double kappa : {0.5, 3.0, 50.0}) {
      check_errors({sources, targets, kappa, tolerance, true, false, true, 3});
      check_errors({sources, targets, kappa, tolerance, false, true, false, 2});
      check_errors({sources, sources, kappa, tolerance, false, false, true, 11});
    }
}

TEST_CASE("as kappa vanishes plans on the GPU give what Laplace's do") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(20000, 7), dipoles = random_dipoles(points.size(), 9);
  const std::vector<double> q = signed_charges(points.size(), 8);
  for (const double tolerance : {1e-4, 1e-10}) {
    PlanOptions options{
        .tolerance = tolerance, .gradient = true, .order = 8, .max_leaf = 60, .inflation = 1.05};
    options.dipoles = true;
    PlanOptions with_kappa = options;
    with_kappa.kappa = 1e-14;
    std::vector<double> potential(points.size()), laplace(points.size());
    Points gradient(points.size()), laplace_gradient(points.size());
    make_fmm_plan(points, with_kappa).evaluate({q, dipoles, 1}, {potential, gradient, {}});
    make_fmm_plan(points, options).evaluate({q, dipoles, 1}, {laplace, laplace_gradient, {}});
    double error = 0, size = 0, potential_error = 0, potential_size = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      error = std::hypot(error, norm(gradient[i] - laplace_gradient[i]));
      size = std::hypot(size, norm(laplace_gradient[i]));
      potential_error = std::hypot(potential_error, potential[i] - laplace[i]);
      potential_size = std::hypot(potential_size, laplace[i]);
    }
    const double bound = tolerance == 1e-4 ? 1e-5 : 1e-11;
    CHECK(error < bound * size);
    CHECK(potential_error < bound * potential_size);
  }
}

TEST_CASE("Yukawa's results on the GPU have the same bits in every run and in every unit") {
  if (!gpu_is_there()) return;
  const Points points = sphere_points(30000, 9);
  Points small = points;
  for (Vec3d& x : small) x = 0x1p-30 * x;
  const std::vector<double> q = signed_charges(points.size(), 10);
  for (const double tolerance : {1e-5, 1e-9}) {
    PlanOptions options{.tolerance = tolerance, .kappa = 3};
    std::vector<double> u(points.size()), v(points.size()), w(points.size());
    const fmm::Plan plan = make_fmm_plan(points, options);
    plan.evaluate({.charges = q}, {.potential = u});
    plan.evaluate({.charges = q}, {.potential = v});
    CHECK(u == v);
    make_fmm_plan(points, options).evaluate({.charges = q}, {.potential = v});
    CHECK(u == v);
    options.kappa = 0x3p30;
    make_fmm_plan(small, options).evaluate({.charges = q}, {.potential = w});
    for (double& value : w) value *= 0x1p-30;
    CHECK(u == w);
  }
}

TEST_CASE("close and coinciding points of Yukawa's kernel on the GPU keep the tolerance") {
  if (!gpu_is_there()) return;
  // Pairs at distances down to 1e-12, and triples in one place.
  Points points = cube_points(6000, 11);
  for (std::size_t i = 0; i + 1 < 2000; i += 2)
    points[i + 1] = points[i] + std::pow(10.0, -3 - 9.0 * double(i) / 2000) * Vec3d{0.6, 0, 0.8};
  for (std::size_t i = 3000; i + 2 < 3300; i += 3) points[i + 1] = points[i + 2] = points[i];
  for (const double tolerance : {1e-3, 1e-5, 1e-8})
    for (const double kappa : {1.0, 100.0}) {
      check_errors({points, points, kappa, tolerance, false});
      check_errors({points, points, kappa, tolerance, true, true});
    }
}

TEST_CASE("direct sums of Yukawa's kernel on the GPU") {
  if (!gpu_is_there()) return;
  const Points sources = cube_points(3000, 1), targets = sphere_points(2000, 2);
  for (const double tolerance : {1e-4, 1e-12}) {
    Case c{sources, targets, 5, tolerance, true, true};
    c.method = fmm::Method::direct;
    check_errors(c);
    check_errors({sources, sources, 5, tolerance, false, false, true, 1, fmm::Method::automatic});
  }
}

TEST_CASE("a few points with Yukawa's kernel on the GPU") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(700, 3);
  for (const double tolerance : {1e-4, 1e-8}) {
    PlanOptions options{.tolerance = tolerance, .kappa = 8, .gradient = true, .max_leaf = 8};
    options.dipoles = true;
    const Strengths s{signed_charges(points.size(), 1), random_dipoles(points.size(), 2)};
    std::vector<double> potential(points.size());
    Points gradient(points.size());
    make_fmm_plan(points, options).evaluate({s.charges, s.dipoles, 1}, {potential, gradient, {}});
    double error = 0, size = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Field exact = direct(points, s, 0, options.kappa, points[i]);
      error = std::hypot(error, norm(gradient[i] - exact.gradient));
      size = std::hypot(size, norm(exact.gradient));
    }
    CHECK(error <= tolerance * size);
  }
}

TEST_CASE("a move that makes kappa times the extent large changes the near field's precision") {
  if (!gpu_is_there()) return;
  // Up to 200, at this tolerance, pairs are summed in single precision.
  const Points small = cube_points(4000, 12);
  Points large = sphere_points(4000, 13);
  for (Vec3d& x : large) x = 4.0 * x;
  const std::vector<double> q = signed_charges(small.size(), 14);
  PlanOptions options{.tolerance = 1e-5, .kappa = 100, .max_leaf = 40};
  fmm::Plan plan = make_fmm_plan(small, options);
  options.order = plan.info().order;
  options.inflation = plan.info().inflation;
  // A move keeps that choice, for which a new plan counts its own near pairs.
  options.third_law = plan.info().third_law ? fmm::ThirdLaw::always : fmm::ThirdLaw::never;
  const auto potential = [&](const fmm::Plan& of) {
    std::vector<double> u(q.size());
    of.evaluate({.charges = q}, {.potential = u});
    return u;
  };
  const std::vector<double> before = potential(plan);
  for (const Points* places : std::vector<const Points*>{&large, &small, &large}) {
    plan.move(*places);
    const std::vector<double> there = potential(plan);
    CHECK(there == potential(make_fmm_plan(*places, options)));
    double error = 0, size = 0;
    for (std::size_t i = 0; i < there.size(); i += 20) {
      const double exact = direct(*places, {q, {}}, 0, options.kappa, (*places)[i]).potential;
      error = std::hypot(error, there[i] - exact);
      size = std::hypot(size, exact);
    }
    CHECK(error <= options.tolerance * size);
    if (places == &small) CHECK(there == before);
  }
}

}  // namespace fmbem::test::cuda_yukawa_plan_tests
