// Clouds of two scales, whose trees have more levels than keys of 64 bits can tell.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/results.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using namespace fmbem::test;
using fmm::direct_sum;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;

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
struct Errors {
  Errors(const Cloud& cloud, const Results& r, bool in_small_cube, double kappa = 0) {
    const std::size_t first = in_small_cube ? 0 : cloud.inside,
                      last = in_small_cube ? cloud.inside : many, n = 100;
    Points targets;
    for (std::size_t k = 0; k < n; ++k)
      targets.push_back(cloud.points[first + k * (last - first) / n]);
    Results exact(n);
    direct_sum(cloud.points, targets, {.charges = cloud.charges}, exact.fields(), kappa);
    double du = 0, u = 0, dg = 0, g = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = first + k * (last - first) / n;
      du = std::hypot(du, r.potential[i] - exact.potential[k]);
      u = std::hypot(u, exact.potential[k]);
      dg = std::hypot(dg, norm(r.gradient[i] - exact.gradient[k]));
      g = std::hypot(g, norm(exact.gradient[k]));
    }
    potential = du / u;
    gradient = dg / g;
  }
  double potential, gradient;
};

Results run(const Plan& plan, const Cloud& cloud) {
  Results r(many);
  plan.evaluate({.charges = cloud.charges}, r.fields());
  return r;
}

void check_errors(const Cloud& cloud, const Results& r, double tolerance, double kappa = 0) {
  for (const bool in_small_cube : {true, false}) {
    CAPTURE(in_small_cube);
    const Errors errors(cloud, r, in_small_cube, kappa);
    CHECK(errors.potential / tolerance < 1);
    CHECK(errors.gradient / tolerance < 1);
  }
}

}  // namespace

TEST_CASE("clouds of two scales keep the tolerance, with a near field of bounded size") {
  const std::string name = GENERATE(as<std::string>{}, "cluster", "scales", "speck");
  const double tolerance = GENERATE(5e-4, 2e-6, 1e-9);
  CAPTURE(name, tolerance);
  const Cloud cloud(name);
  const PlanOptions options{.tolerance = tolerance, .gradient = true, .max_leaf = 60};
  const Plan plan(cloud.points, options), uniform(cube_points(many, 3), options);
  CHECK(plan.info().levels > (name == "cluster" ? 12 : 21));
  // Twice as many for leaves of each scale that are filled to another degree.
  CHECK(plan.info().near_pairs < 4 * uniform.info().near_pairs);
  check_errors(cloud, run(plan, cloud), tolerance);
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
  check_errors(cloud, run(plan, cloud), tolerance);
}

TEST_CASE("Yukawa's kernel in clouds of two scales") {
  const std::string name = GENERATE(as<std::string>{}, "scales", "speck");
  CAPTURE(name);
  const Cloud cloud(name);
  const double kappa = GENERATE_COPY(2.0, 1 / cloud.edge);
  CAPTURE(kappa);
  const Plan plan(cloud.points,
                  {.tolerance = 1e-6, .kappa = kappa, .gradient = true, .max_leaf = 60});
  CHECK(plan.info().levels > 21);
  const Results r = run(plan, cloud);
  if (kappa == 2) return check_errors(cloud, r, 1e-6, kappa);
  const Errors errors(cloud, r, true, kappa);  // outside the small cube all is 0
  CHECK(errors.potential / 1e-6 < 1);
  CHECK(errors.gradient / 1e-6 < 1);
}

TEST_CASE("deep trees give the same bits for any number of threads", "[threads]") {
  const Cloud cloud("speck");
  std::vector<Results> all;
  for (const int threads : {1, 3}) {
    set_threads(threads);
    all.push_back(run(Plan(cloud.points, {.tolerance = 1e-6, .gradient = true}), cloud));
  }
  set_threads(available_cores());
  CHECK(all[0].potential == all[1].potential);
  CHECK(all[0].gradient == all[1].gradient);
}
