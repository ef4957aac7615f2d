// Plans of treecodes and hybrids for Yukawa's kernel, against sums that share nothing with them.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/fmm/direct.hpp"
#include "tests/unit/fmm/backends.hpp"
#include "tests/unit/fmm/long_sum.hpp"
#include "tests/unit/fmm/method_results.hpp"

namespace fmbem::test::yukawa_method_plans_tests {

using fmm::Method;
using fmm::PlanOptions;

namespace {

/// Errors of potentials and gradients at some targets are within the tolerance.
void check_plan(const Points& y, const Points& x, const PlanOptions& options) {
  const bool same = &x == &y;
  const Plan plan = same ? Plan(x, options) : Plan(y, x, options);
  const std::vector<double> q = signed_charges(y.size(), 5);
  Results r(x.size());
  plan.evaluate({.charges = q}, r.fields());
  const RelativeErrors errors =
      errors_by_long_sum(y, x, q, options.kappa, 0, r.potential, r.gradient, 13);
  CAPTURE(options.kappa, options.tolerance, name_of(options.method), options.theta.value_or(0),
          plan.info().order, plan.info().levels, plan.info().m2p_pairs, plan.info().m2l_pairs);
  CHECK(errors.potential <= options.tolerance);
  CHECK(errors.gradient <= options.tolerance);
}

/// Methods with the θ that they are tried with.
std::vector<std::pair<Method, double>> methods_with_theta() {
  return {{Method::treecode, 0.3},
          {Method::treecode, 0.5},
          {Method::treecode, 0.7},
          {Method::hybrid, 0.6},
          {Method::hybrid, 0.8660254}};
}

void check_cloud(const std::string& cloud, double kappa_side, double tolerance, std::size_t n) {
  const Points points = points_by_name(cloud, n, 1);
  const double kappa = kappa_side / extent(points);
  CAPTURE(cloud, kappa_side);
  for (const auto& [method, theta] : methods_with_theta())
    check_plan(points, points,
               {.tolerance = tolerance,
                .kappa = kappa,
                .gradient = true,
                .max_leaf = 20,
                .method = method,
                .theta = theta});
}

}  // namespace

BACKEND_TEST_CASE("treecodes and hybrids of Yukawa's kernel meet their tolerance") {
  for (const std::string cloud : {"cube", "sphere", "plummer", "scales"})
    for (const double kappa_side : {0.1, 6.0, 60.0, 1000.0})
      check_cloud(cloud, kappa_side, 1e-3, 1200);
  check_cloud("sphere", 6, 1e-6, 1200);
}

BACKEND_TEST_CASE("treecodes and hybrids of Yukawa's kernel meet their tolerance, to many digits",
                  "[long][accuracy]") {
  for (const std::string cloud : {"cube", "sphere", "plummer", "scales"})
    for (const double kappa_side : {0.1, 1.0, 6.0, 60.0, 1000.0})
      for (const double tolerance : {1e-6, 1e-9}) check_cloud(cloud, kappa_side, tolerance, 2500);
}

BACKEND_TEST_CASE(
    "Yukawa treecodes and hybrids of other targets, dipoles and several charge vectors") {
  const Points y = plummer_points(800, 6), x = cube_points(500, 7);
  const Sources sources(y.size(), 3, true, 8);
  const double kappa = GENERATE(0.5, 8.0);
  Results exact(3 * x.size());
  fmm::direct_sum(y, x, sources.strengths(), exact.fields(), kappa);
  for (const auto& [method, theta] : methods_with_theta())
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      const double tolerance = precision == Precision::single_precision ? 1e-4 : 1e-6;
      CAPTURE(kappa, name_of(method), theta, tolerance);
      const Plan plan(y, x,
                      {.tolerance = tolerance,
                       .precision = precision,
                       .kappa = kappa,
                       .gradient = true,
                       .dipoles = true,
                       .max_leaf = 20,
                       .method = method,
                       .theta = theta});
      const Errors errors(run(plan, sources.strengths()), exact);
      CHECK(errors.potential < tolerance);
      CHECK(errors.gradient < tolerance);
      // Potentials alone take other expansions.
      std::vector<double> alone(3 * x.size());
      plan.evaluate(sources.strengths(), {.potential = alone});
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        difference = std::hypot(difference, alone[i] - exact.potential[i]);
        size = std::hypot(size, exact.potential[i]);
      }
      CHECK(difference < tolerance * size);
    }
}

BACKEND_TEST_CASE("Yukawa treecodes and hybrids across a gap") {
  const Points y = cube_points(1000, 11), x = shifted(cube_points(300, 12), {2, 0.5, 0});
  for (const double kappa : {0.3, 3.0, 8.0})
    for (const auto& [method, theta] : methods_with_theta())
      for (const double tolerance : {1e-3, 1e-5}) {
        if (kappa > 3 && (theta > 0.6 || tolerance < 1e-4)) continue;
        check_plan(y, x,
                   {.tolerance = tolerance,
                    .kappa = kappa,
                    .gradient = true,
                    .max_leaf = 60,
                    .method = method,
                    .theta = theta});
      }
  const PlanOptions beyond{
      .tolerance = 1e-9, .kappa = 30, .max_leaf = 40, .method = Method::treecode, .theta = 0.7};
  CHECK_THROWS_WITH(Plan(y, x, beyond), contains("take the method direct"));
}

BACKEND_TEST_CASE("Yukawa treecodes and hybrids move across a gap and back") {
  const Points y = cube_points(1000, 11);
  const auto targets_at = [](double to) { return shifted(cube_points(300, 12), {to, 0.5, 0}); };
  const std::vector<double> q = signed_charges(y.size(), 13);
  for (const auto& [method, theta] : methods_with_theta()) {
    CAPTURE(name_of(method), theta);
    const PlanOptions options{.tolerance = 1e-3,
                              .kappa = 8,
                              .gradient = true,
                              .max_leaf = 60,
                              .method = method,
                              .theta = theta};
    Plan plan(y, targets_at(1.1), options);
    const auto check = [&](double to) {
      const Points x = targets_at(to);
      Results exact(x.size());
      fmm::direct_sum(y, x, {.charges = q}, exact.fields(), options.kappa);
      const Errors errors(run(plan, {.charges = q}), exact);
      CHECK(errors.potential < options.tolerance);
      CHECK(errors.gradient < options.tolerance);
    };
    check(1.1);
    for (const double to : {2.0, 1.1}) {
      plan.move(y, targets_at(to));
      check(to);
    }
    // A refused move leaves everything as it was.
    const fmm::PlanInfo before = plan.info();
    CHECK_THROWS_WITH(plan.move(y, targets_at(12)), contains("take the method direct"));
    const fmm::PlanInfo after = plan.info();
    CHECK(after.order == before.order);
    CHECK(after.near_pairs == before.near_pairs);
    CHECK(after.m2p_pairs == before.m2p_pairs);
    check(1.1);
  }
}

BACKEND_TEST_CASE(
    "gaps raise no order of treecodes and hybrids whose boxes Yukawa's kernel spans") {
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const Points y = cube_points(40, 11);
  const auto targets_at = [](double to) { return shifted(cube_points(30, 12), {to, 0, 0}); };
  // Boxes of a side of 1.1 or more; the kernel reaches some 0.1 farther than the nearest pair.
  Plan plan(y, targets_at(1.2),
            {.tolerance = 1e-3, .kappa = 100, .max_leaf = 30, .method = method});
  const int order = plan.info().order;
  CHECK(order < 20);
  plan.move(y, targets_at(1.5));
  CHECK(plan.info().order == order);
}

BACKEND_TEST_CASE("Yukawa treecodes and hybrids with any κ") {
  Points points = cube_points(700, 14);
  points.push_back(points[3] + Vec3d{1e-9, 0, 0});  // a pair that κ = 1e9 leaves
  const std::vector<double> q = signed_charges(points.size(), 15);
  for (const double kappa : {1e5, 1e9, 1e20, 1e60, 1e300})
    for (const auto& [method, theta] : methods_with_theta()) {
      CAPTURE(kappa, name_of(method), theta);
      const Plan plan(points, {.tolerance = 1e-6,
                               .kappa = kappa,
                               .gradient = true,
                               .order = 9,
                               .max_leaf = 5,
                               .method = method,
                               .theta = theta});
      Results exact(points.size());
      fmm::direct_sum(points, points, {.charges = q}, exact.fields(), kappa);
      const Results r = run(plan, {.charges = q});
      double size = 0, slope = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        size = std::max(size, std::abs(exact.potential[i]));
        slope = std::max(slope, norm(exact.gradient[i]));
      }
      for (std::size_t i = 0; i < points.size(); ++i) {
        CHECK(std::abs(r.potential[i] - exact.potential[i]) <= 1e-6 * size);
        CHECK(norm(r.gradient[i] - exact.gradient[i]) <= 1e-6 * slope);
      }
    }
}

BACKEND_TEST_CASE("Yukawa treecodes and hybrids move") {
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const Points points = cube_points(1500, 16), elsewhere = plummer_points(1500, 17);
  const std::vector<double> q = signed_charges(points.size(), 18);
  Plan plan(points, {.tolerance = 1e-6, .kappa = 3, .gradient = true, .method = method});
  for (const Points& to : {cube_points(1500, 19), elsewhere}) {
    plan.move(to);
    Results exact(points.size());
    fmm::direct_sum(to, to, {.charges = q}, exact.fields(), 3);
    const Errors errors(run(plan, {.charges = q}), exact);
    CHECK(errors.potential < 1e-6);
    CHECK(errors.gradient < 1e-6);
  }
}

}  // namespace fmbem::test::yukawa_method_plans_tests
