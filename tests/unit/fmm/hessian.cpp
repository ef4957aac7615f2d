// Second derivatives of sums over points; of plans on the CPU and on the GPU.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/fmm/backends.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::hessian_tests {

using fmm::Strengths;

namespace {

using Points = std::vector<Vec3d>;

std::vector<Symmetric3d> exact_hessians(const Points& y, const Points& x,
                                        const Strengths& strengths) {
  std::vector<Symmetric3d> h(strengths.count * x.size());
  fmm::direct_sum(y, x, strengths, {.hessian = h});
  return h;
}

std::vector<Symmetric3d> hessians(const fmm::Plan& plan, const Strengths& strengths) {
  std::vector<Symmetric3d> h(strengths.count * plan.targets());
  plan.evaluate(strengths, {.hessian = h});
  return h;
}

/// Relative L2 error of right-hand side k.
double error_of(const std::vector<Symmetric3d>& h, const std::vector<Symmetric3d>& exact,
                std::size_t targets, std::size_t k) {
  double error = 0, size = 0;
  for (std::size_t i = k * targets; i < (k + 1) * targets; ++i) {
    error += norm2(h[i] - exact[i]);
    size += norm2(exact[i]);
  }
  return std::sqrt(error / size);
}

/// Charges, dipoles, and both.
struct ThreeStrengths {
  explicit ThreeStrengths(std::size_t n) : charges(3 * n), dipoles(3 * n) {
    const auto q = signed_charges(n, 1);
    const auto d = random_dipoles(n, 2);
    std::copy(q.begin(), q.end(), charges.begin());
    std::copy(q.begin(), q.end(), charges.begin() + 2 * n);
    std::copy(d.begin(), d.end(), dipoles.begin() + n);
    std::copy(d.begin(), d.end(), dipoles.begin() + 2 * n);
  }
  Strengths all() const { return {charges, dipoles, 3}; }
  std::vector<double> charges;
  std::vector<Vec3d> dipoles;
};

}  // namespace

TEST_CASE("second derivatives of direct sums are differences of gradients, and have no trace") {
  const Points y = cube_points(20, 3), x{{0.4, 1.7, -0.3}, {2, -1, 0.5}};
  const ThreeStrengths strengths(y.size());
  const auto h = exact_hessians(y, x, strengths.all());
  const double step = 1e-3;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const Symmetric3d of_result = h[i];
    double size = std::sqrt(norm2(of_result));
    CHECK(std::abs(of_result.xx + of_result.yy + of_result.zz) < 1e-14 * size);
    for (int axis = 0; axis < 3; ++axis) {
      Points around;
      for (const double s : {step, -step, 2 * step, -2 * step}) {
        around.push_back(x[i % x.size()]);
        around.back()[axis] += s;
      }
      std::vector<Vec3d> g(3 * around.size());
      fmm::direct_sum(y, around, strengths.all(), {.gradient = g});
      const Vec3d* at = g.data() + i / x.size() * around.size();
      const Vec3d slope = (8.0 * (at[0] - at[1]) - (at[2] - at[3])) / (12 * step);
      // The differences are off by step⁴/30 of a sixth derivative, 1e-10 here, and by rounding.
      for (int k = 0; k < 3; ++k) CHECK(std::abs(slope[k] - of_result(axis, k)) < 1e-9 * size);
    }
  }
}

BACKEND_TEST_CASE("plans give second derivatives to the tolerance", "[long][accuracy]") {
  const std::size_t n = 800;
  for (const char* name : {"cube", "ellipsoid"}) {
    const Points y = points_by_name(name, n, 4);
    const ThreeStrengths strengths(n);
    for (const bool apart : {false, true}) {
      const Points x = apart ? points_by_name(name, n / 3, 5) : y;
      const auto exact = exact_hessians(y, x, strengths.all());
      for (const double tolerance : {1e-3, 1e-7}) {
        const fmm::PlanOptions options{
            .tolerance = tolerance, .dipoles = true, .hessian = true, .max_leaf = 20};
        const Plan plan = apart ? Plan(y, x, options) : Plan(std::span<const Vec3d>(y), options);
        const auto h = hessians(plan, strengths.all());
        for (std::size_t k = 0; k < 3; ++k) {
          CAPTURE(name, apart, tolerance, k, plan.info().order);
          CHECK(error_of(h, exact, x.size(), k) < tolerance);
        }
        // Of charges alone, at the order that these ask for.
        const Plan of_charges(
            y, x, {.tolerance = tolerance, .gradient = true, .hessian = true, .max_leaf = 20});
        const auto q = hessians(of_charges, {.charges = std::span(strengths.charges).first(n)});
        CAPTURE(name, apart, tolerance, of_charges.info().order);
        CHECK(error_of(q, exact, x.size(), 0) < tolerance);
      }
    }
  }
}

BACKEND_TEST_CASE("second derivatives far from all sources, by local expansions alone") {
  const Points y = cube_points(1200, 6), x = shifted(cube_points(1200, 7), {2.5, 1, -0.5});
  const auto q = signed_charges(y.size(), 8);
  const auto exact = exact_hessians(y, x, {.charges = q});
  for (const double tolerance : {1e-2, 1e-4, 1e-8}) {
    if (sanitized && tolerance < 1e-4) break;
    const Plan plan(y, x, {.tolerance = tolerance, .hessian = true, .max_leaf = 15});
    CAPTURE(tolerance, plan.info().order, plan.info().levels);
    CHECK(plan.info().levels > 2);
    CHECK(error_of(hessians(plan, {.charges = q}), exact, x.size(), 0) < tolerance);
  }
}

BACKEND_TEST_CASE("who also asks for second derivatives gets the same potentials and gradients") {
  const Points y = cube_points(1500, 9);
  const auto q = signed_charges(y.size(), 10);
  const Plan plan(y, {.tolerance = 1e-5, .gradient = true, .hessian = true, .order = 11});
  std::vector<double> u(y.size()), with_u(y.size());
  std::vector<Vec3d> g(y.size()), with_g(y.size());
  std::vector<Symmetric3d> h(y.size());
  plan.evaluate({.charges = q}, {u, g});
  plan.evaluate({.charges = q}, {with_u, with_g, h});
  CHECK(u == with_u);
  CHECK(g == with_g);
  CHECK(h == hessians(plan, {.charges = q}));
}

BACKEND_TEST_CASE("second derivatives have the same bits for any number of threads", "[threads]") {
  const Points y = cube_points(1000, 11);
  const auto q = signed_charges(y.size(), 12);
  const Plan plan(y, {.tolerance = 1e-6, .hessian = true});
  std::vector<std::vector<Symmetric3d>> results;
  for (const int threads : {1, 3}) {
    set_threads(threads);
    results.push_back(hessians(plan, {.charges = q}));
  }
  set_threads(available_cores());
  CHECK(results[0] == results[1]);
}

BACKEND_TEST_CASE("second derivatives that a plan was not made for, or that it cannot have") {
  const Points y = cube_points(10, 13);
  const std::vector<double> q(10, 1.0);
  std::vector<Symmetric3d> h(10);
  CHECK_THROWS_WITH(Plan(y).evaluate({.charges = q}, {.hessian = h}),
                    contains("was not made for second derivatives"));
  h.resize(9);
  CHECK_THROWS_WITH(Plan(y, {.hessian = true}).evaluate({.charges = q}, {.hessian = h}),
                    contains("second derivatives have 9 entries"));
  const fmm::PlanOptions treecode{.hessian = true, .method = fmm::Method::treecode};
  CHECK_THROWS_WITH(Plan(y, treecode), contains("a treecode has no second derivatives"));
}

BACKEND_TEST_CASE("second derivatives of both kernels keep the tolerance in all clouds",
                  "[long][accuracy]") {
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid");
  const std::size_t n = 1500, step = 6;
  const Points points = points_by_name(name, n, 14);
  Points some;
  for (std::size_t i = 0; i < n; i += step) some.push_back(points[i]);
  const ThreeStrengths strengths(n);
  for (const double of_extent : {0.0, 5.0, 80.0}) {
    const double kappa = of_extent / extent(points);
    std::vector<Symmetric3d> exact(3 * some.size());
    fmm::direct_sum(points, some, strengths.all(), {.hessian = exact}, kappa);
    for (const double tolerance : {1e-2, 1e-5}) {
      const Plan plan(points, {.tolerance = tolerance,
                               .kappa = kappa,
                               .dipoles = true,
                               .hessian = true,
                               .max_leaf = 20});
      const auto all = hessians(plan, strengths.all());
      std::vector<Symmetric3d> h;
      for (std::size_t i = 0; i < all.size(); i += step) h.push_back(all[i]);
      CAPTURE(name, of_extent, tolerance, plan.info().order, plan.info().levels);
      CHECK(plan.info().levels > 3);
      for (std::size_t k = 0; k < 3; ++k) CHECK(error_of(h, exact, some.size(), k) <= tolerance);
    }
  }
}

}  // namespace fmbem::test::hessian_tests
