// Clouds of two scales, whose trees have more levels than keys of 64 bits can tell.
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/method_results.hpp"

namespace fmbem::test::deep_trees_tests {

using fmm::direct_sum;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;

namespace {

constexpr std::size_t many = 6000;

/// The first points are in a small cube in the unit cube, the others anywhere.
struct Cloud {
  explicit Cloud(const std::string& name)
      : edge(name == "cluster"  ? 1e-3
             : name == "scales" ? 1e-6
                                : 1e-9),
        inside(static_cast<std::size_t>((name == "cluster" ? 0.99 : 0.5) * many)),
        points(cluster_points(many, 1, edge, name == "cluster" ? 0.99 : 0.5)),
        charges(signed_charges(many, 2)) {}

  double edge;
  std::size_t inside;
  Points points;
  std::vector<double> charges;
};

/// Relative L2 errors at some targets in the small cube, or outside it.
Errors errors_of(const Cloud& cloud, const Results& r, bool in_small_cube, double kappa = 0) {
  const std::size_t first = in_small_cube ? 0 : cloud.inside,
                    last = in_small_cube ? cloud.inside : many, n = 100;
  Points targets;
  Results there(n), exact(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = first + k * (last - first) / n;
    targets.push_back(cloud.points[i]);
    there.potential[k] = r.potential[i];
    there.gradient[k] = r.gradient[i];
  }
  direct_sum(cloud.points, targets, {.charges = cloud.charges}, exact.fields(), kappa);
  return {there, exact};
}

Results results_of(const Plan& plan, const Cloud& cloud) {
  return run(plan, {.charges = cloud.charges});
}

void check_errors(const Cloud& cloud, const Results& r, double tolerance, double kappa = 0) {
  for (const bool in_small_cube : {true, false}) {
    CAPTURE(in_small_cube);
    const Errors errors = errors_of(cloud, r, in_small_cube, kappa);
    CHECK(errors.potential / tolerance < 1);
    CHECK(errors.gradient / tolerance < 1);
  }
}

}  // namespace

TEST_CASE("clouds of two scales keep the tolerance, with a near field of bounded size") {
  const std::string name = GENERATE(as<std::string>{}, "cluster", "scales", "speck");
  const double tolerance = GENERATE(5e-4, 2e-6, 1e-9);
  if (sanitized && tolerance < 2e-6) return;
  CAPTURE(name, tolerance);
  const Cloud cloud(name);
  const PlanOptions options{.tolerance = tolerance, .gradient = true, .max_leaf = 60};
  const Plan plan(cloud.points, options), uniform(cube_points(many, 3), options);
  CHECK(plan.info().levels > (name == "cluster" ? 12 : 21));
  // Twice as many for leaves of each scale that are filled to another degree.
  CHECK(plan.info().near_pairs < 4 * uniform.info().near_pairs);
  check_errors(cloud, results_of(plan, cloud), tolerance);
}

TEST_CASE("treecodes and hybrids of clouds of two scales") {
  const std::string name = GENERATE(as<std::string>{}, "cluster", "scales", "speck");
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const double tolerance = GENERATE(1e-4, 1e-8);
  CAPTURE(name, name_of(method), tolerance);
  const Cloud cloud(name);
  const Plan plan(cloud.points,
                  {.tolerance = tolerance, .gradient = true, .max_leaf = 30, .method = method});
  // A hybrid may sum what is left in a small cube directly.
  if (method == Method::treecode) CHECK(plan.info().levels > (name == "cluster" ? 12 : 21));
  check_errors(cloud, results_of(plan, cloud), tolerance);
}

TEST_CASE("Yukawa's kernel in clouds of two scales", "[long][accuracy]") {
  const std::string name = GENERATE(as<std::string>{}, "scales", "speck");
  CAPTURE(name);
  const Cloud cloud(name);
  const double kappa = GENERATE_COPY(2.0, 1 / cloud.edge);
  constexpr double tolerance = 1e-6;
  CAPTURE(kappa);
  const Plan plan(cloud.points,
                  {.tolerance = tolerance, .kappa = kappa, .gradient = true, .max_leaf = 60});
  CHECK(plan.info().levels > 21);
  const Results r = results_of(plan, cloud);
  if (kappa == 2) return check_errors(cloud, r, tolerance, kappa);
  const Errors errors = errors_of(cloud, r, true, kappa);  // outside the small cube all is 0
  CHECK(errors.potential / tolerance < 1);
  CHECK(errors.gradient / tolerance < 1);
}

TEST_CASE("deep trees give the same bits for any number of threads", "[threads]") {
  const Cloud cloud("speck");
  check_bits_of_threads(cloud.points, cloud.charges, {.tolerance = 1e-6, .gradient = true});
}

}  // namespace fmbem::test::deep_trees_tests
