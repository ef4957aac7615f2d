// Direct sums and treecodes as methods of a plan, against sums that share nothing with them.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::methods_tests {

using fmm::direct_sum;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;
using fmm::Strengths;

namespace {

const auto make_cpu_plan = [](const auto&... of) { return Plan(of...); };

}  // namespace

TEST_CASE("direct plans are direct sums") {
  // 1300 points are three pieces of 512 in the mutual sums, the last one not full.
  const Points y = GENERATE(cube_points(1300, 1), plummer_points(1300, 2)), x = cube_points(700, 3);
  const bool same = GENERATE(true, false), dipoles = GENERATE(true, false);
  const int count = dipoles ? 3 : 1;
  double tolerance = 0, softening = 0;
  std::tie(tolerance, softening) = GENERATE(
      table<double, double>({{1e-13, 0}, {1e-9, 0.05}, {1e-5, 0}, {1e-5, 0.05}, {1e-3, 0}}));
  CAPTURE(same, dipoles, count, tolerance, softening);
  check_direct_plan(Sources(y.size(), count, dipoles, 4), y, x, same, tolerance, softening,
                    make_cpu_plan);
}

TEST_CASE("direct plans have second derivatives and Yukawa's kernel") {
  const Points y = cube_points(600, 5), x = cube_points(530, 6);
  const Sources sources(y.size(), 1, true, 7);
  const double kappa = GENERATE(0.0, 3.0);
  const Plan plan(y, x,
                  {.tolerance = 1e-10,
                   .kappa = kappa,
                   .gradient = true,
                   .dipoles = true,
                   .hessian = true,
                   .method = Method::direct});
  Results exact(x.size(), true);
  direct_sum(y, x, sources.strengths(), exact.fields(), kappa);
  const Results r = run(plan, sources.strengths(), true);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int k = 0; k < 6; ++k) {
      difference = std::hypot(difference, r.hessian[i][k] - exact.hessian[i][k]);
      size = std::hypot(size, exact.hessian[i][k]);
    }
  CHECK(difference < 1e-10 * size);
  CHECK(Errors(r, exact).gradient < 1e-10);
}

TEST_CASE("softened sums are those of balls") {
  // A charge of Plummer's density, integrated over its potential at the distance r = 2: the closed
  // form 1/√(r² + ε²) against shells of charge inside and outside of r.
  const double softening = 0.7, r = 2;
  const auto enclosed = [&](double s) { return std::pow(s / std::hypot(s, softening), 3); };
  double u = enclosed(r) / r;  // of the shells inside, then those outside, to infinity
  constexpr int steps = 20'000;
  for (int k = 0; k < steps; ++k) {
    const double inner = r * steps / (steps - k),
                 outer = k + 1 < steps ? r * steps / (steps - k - 1) : 1e300;
    u += (k + 1 < steps ? enclosed(outer) - enclosed(inner) : 1 - enclosed(inner)) * 2 /
         (inner + std::min(outer, 1e12));
  }
  const Points y{{0, 0, 0}}, x{{0, r, 0}};
  const std::vector<double> q{4 * std::numbers::pi};
  std::vector<double> found(1);
  Plan(y, x, {.tolerance = 1e-13, .method = Method::direct, .softening = softening})
      .evaluate({.charges = q}, {.potential = found});
  CHECK(std::abs(found[0] - u) < 1e-6);
}

TEST_CASE("pairs of direct sums that coincide contribute nothing") {
  Points points = cube_points(400, 8);
  points.insert(points.end(), points.begin(), points.end());
  const Sources sources(points.size(), 1, false, 9);
  for (const double softening : {0.0, 0.1}) {
    for (const double tolerance : {1e-3, 1e-10}) {
      const Plan plan(points, {.tolerance = tolerance,
                               .gradient = true,
                               .method = Method::direct,
                               .softening = softening});
      const Errors errors = errors_of(plan, sources, points, points, softening);
      CHECK(errors.potential < tolerance);
      CHECK(errors.gradient < tolerance);
    }
  }
}

TEST_CASE("treecodes meet their tolerance") {
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.4, 0.6, 0.8), tolerance = GENERATE(1e-2, 1e-4, 1e-7);
  CAPTURE(cloud, theta, tolerance);
  const Points points = points_by_name(cloud, 3000, 10);
  const Sources sources(points.size(), 1, false, 11);
  const Points some(points.begin(), points.begin() + 300);
  const Plan plan(
      points,
      {.tolerance = tolerance, .gradient = true, .method = Method::treecode, .theta = theta});
  const Errors errors = errors_of(plan, sources, points, some);
  CAPTURE(plan.info().order, plan.info().m2p_pairs, plan.info().near_pairs);
  CHECK(plan.info().method == Method::treecode);
  CHECK(plan.info().m2p_pairs > 0);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("treecodes of sources and other targets, dipoles and several right-hand sides") {
  const Points y = plummer_points(3000, 12), x = cube_points(2000, 13);
  const bool single = GENERATE(false, true);
  const double tolerance = single ? 1e-4 : 1e-8;
  const Sources sources(y.size(), 3, true, 14);
  const Plan plan(y, x,
                  {.tolerance = tolerance,
                   .precision = single ? Precision::single_precision : Precision::double_precision,
                   .gradient = true,
                   .dipoles = true,
                   .method = Method::treecode});
  const Errors errors = errors_of(plan, sources, y, x);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("the treecode's error is within its bound at each target") {
  // Each box that acts as a whole has r_s/d ≤ θ, d its distance from the target, so its error is at
  // most θ^(p+1)/(1 − θ) Q/d, and Q/d ≤ (1 + θ) Σ|q|/|x − y| (docs/theory.md).
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.3, 0.6, 0.9);
  const int order = GENERATE(1, 4, 9);
  CAPTURE(cloud, theta, order);
  const Points points = points_by_name(cloud, 1500, 15);
  check_bound_of_treecode(points, 16, theta, order, make_cpu_plan);
}

TEST_CASE("which boxes a treecode takes does not depend on the unit of length") {
  // θ = 3/5 has many pairs of boxes that are at just θ: 25 (s + t)² = 12 R².
  const Points points = cube_points(3000, 4);
  const auto work_of = [&](double unit) {
    Points scaled = points;
    for (Vec3d& x : scaled) x = unit * x;
    const Cube root{unit * Vec3d{-1.1, -1.1, -1.1}, 2.2 * unit};
    const fmm::SortedPoints sorted = fmm::sort_points(scaled, 1, root);
    const fmm::Octree tree = fmm::build_octree(root, sorted, sorted, 10);
    return fmm::treecode_work(tree, fmm::leaves_with_targets(tree), 0.6, fmm::endless);
  };
  const fmm::TreecodeWork one = work_of(1);
  REQUIRE(one.m2p_pairs > 0);
  for (const double unit : {1.1, 0.3, 7.7, 1e-10}) {
    const fmm::TreecodeWork other = work_of(unit);
    CAPTURE(unit);
    CHECK(other.m2p_pairs == one.m2p_pairs);
    CHECK(other.p2p_pairs == one.p2p_pairs);
  }
}

TEST_CASE("points in one place take no time in a treecode") {
  const Points points(100'000, {1, 2, 3});
  const std::vector<double> q(points.size(), 1.0);
  std::vector<double> u(points.size(), 1.0);
  Plan(points, {.method = Method::treecode}).evaluate({.charges = q}, {.potential = u});
  CHECK(std::count(u.begin(), u.end(), 0.0) == 100'000);
}

TEST_CASE("automatic takes the method with the least time") {
  const auto method_of = [](std::size_t n, double tolerance) {
    return Plan(cube_points(n, 17), {.tolerance = tolerance, .method = Method::automatic})
        .info()
        .method;
  };
  CHECK(method_of(1, 1e-6) == Method::direct);
  CHECK(method_of(300, 1e-10) == Method::direct);
  CHECK(method_of(200'000, 1e-3) == Method::fmm);
  // What is automatic gives the bits of the method that it is.
  const Points points = cube_points(20'000, 18);
  const std::vector<double> q = signed_charges(points.size(), 19);
  std::vector<double> u(points.size()), v(points.size());
  const Plan automatic(points, {.method = Method::automatic});
  automatic.evaluate({.charges = q}, {.potential = u});
  Plan(points, {.method = automatic.info().method}).evaluate({.charges = q}, {.potential = v});
  CHECK(u == v);
}

TEST_CASE("methods give the same bits for any number of threads", "[threads]") {
  const Points points = cube_points(3000, 20);
  const std::vector<double> q = signed_charges(points.size(), 21);
  const Method method = GENERATE(Method::direct, Method::treecode);
  for (const double tolerance : {1e-3, 1e-9})
    check_bits_of_threads(points, q, {.tolerance = tolerance, .gradient = true, .method = method});
}

TEST_CASE("plans of any method move") {
  const Method method = GENERATE(Method::direct, Method::treecode, Method::hybrid);
  const Points points = cube_points(2000, 22), elsewhere = plummer_points(2000, 23);
  const std::vector<double> q = signed_charges(points.size(), 24);
  Plan plan(points, {.tolerance = 1e-8, .gradient = true, .method = method});
  const int leaf = plan.info().max_leaf;
  plan.move(elsewhere);
  CHECK(plan.info().method == method);
  CHECK(plan.info().max_leaf == leaf);
  Results exact(points.size());
  direct_sum(elsewhere, elsewhere, {.charges = q}, exact.fields());
  const Errors errors(run(plan, {.charges = q}), exact);
  CHECK(errors.potential < 1e-8);
  CHECK(errors.gradient < 1e-8);
}

TEST_CASE("methods refuse what they do not have") {
  const Points points = cube_points(10, 25);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(Plan(points, options), InputError);
    CHECK_THROWS_WITH(Plan(points, options), contains(sentence));
  };
  const double nan = std::nan("");
  for (const Method method : {Method::treecode, Method::hybrid}) {
    for (const double theta : {0.0, -0.5, 1.5, nan})
      refused({.method = method, .theta = theta}, "θ must be above 0 and at most 1");
    refused({.method = method, .theta = 0.95}, "no order is sure to meet a tolerance");
    CHECK_NOTHROW(Plan(points, {.order = 4, .method = method, .theta = 1.0}));
  }
  refused({.tolerance = 1e-12, .gradient = true, .method = Method::treecode, .theta = 0.8},
          "take θ = 0.69 or less");
  CHECK_NOTHROW(Plan(points, {.tolerance = 1e-12, .method = Method::treecode, .theta = 0.64}));
  CHECK_NOTHROW(Plan(points, {.tolerance = 1e-12, .method = Method::automatic, .theta = 0.8}));
  refused({.theta = 0.5}, "θ is a treecode's or a hybrid's");
  refused({.method = Method::direct, .theta = 0.5}, "θ is a treecode's or a hybrid's");
  refused({.order = 4, .method = Method::direct}, "a direct sum has neither order nor leaves");
  refused({.max_leaf = 4, .method = Method::direct}, "a direct sum has neither order nor leaves");
  refused({.hessian = true, .method = Method::treecode}, "a treecode has no second derivatives");
  refused({.softening = 0.1}, "direct sums alone have a softening");
  refused({.method = Method::treecode, .softening = 0.1}, "direct sums alone have a softening");
  for (const double softening : {-0.1, nan})
    refused({.method = Method::direct, .softening = softening}, "must be a length of 0 or more");
  refused({.kappa = 1, .method = Method::direct, .softening = 0.1}, "softening is of Laplace's");
  refused({.method = Method::direct, .softening = 1e4}, "all pairs would be alike");
  refused({.order = 41, .method = Method::treecode}, "the order must be between 1 and 40");
}

}  // namespace fmbem::test::methods_tests
