// Plan::move(): a plan that was moved is the plan that would be made there, with the same choices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/fmm/backends.hpp"
#include "tests/unit/fmm/results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::moved_plan_tests {

using fmm::PlanInfo;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;

Results run(const fmm::Plan& plan) {
  const auto q = signed_charges(plan.sources(), 1);
  Results r(plan.targets());
  plan.evaluate({.charges = q}, r.fields());
  return r;
}

/// Options with the choices of a plan given by hand.
PlanOptions by_hand(PlanOptions options, const PlanInfo& info) {
  options.order = info.order;
  options.max_leaf = info.max_leaf;
  options.inflation = info.inflation;
  return options;
}

bool same_tree(const PlanInfo& a, const PlanInfo& b) {
  return a.order == b.order && a.precision == b.precision && a.levels == b.levels &&
         a.max_leaf == b.max_leaf && a.inflation == b.inflation && a.boxes == b.boxes &&
         a.leaves == b.leaves && a.near_pairs == b.near_pairs && a.m2l_rows == b.m2l_rows;
}

/// Steps of that length in all directions.
Points stepped(Points points, double length, int seed) {
  Uniform uniform(seed);
  for (Vec3d& x : points)
    x = x + length * Vec3d{2 * uniform() - 1, 2 * uniform() - 1, 2 * uniform() - 1};
  return points;
}

Points scaled(Points points, double factor, Vec3d centre) {
  for (Vec3d& x : points) x = centre + factor * (x - centre);
  return points;
}

/// Points of the unit cube in steps of 2⁻²⁰, two corners among them: their hull is the cube,
/// exactly.
Points dyadic_cube(std::size_t n, int seed) {
  Points points = cube_points(n, seed);
  for (Vec3d& x : points)
    for (int axis = 0; axis < 3; ++axis) x[axis] = std::round(std::ldexp(x[axis], 20)) / (1 << 20);
  points.front() = {0, 0, 0};
  points.back() = {1, 1, 1};
  return points;
}

}  // namespace

BACKEND_TEST_CASE("a plan that moved has the bits of a new one", "[long][cases]") {
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid");
  const std::size_t n = 2500;
  if (sanitized && name != "plummer") return;
  // In single and in double precision; leaves so small that there are several levels.
  for (const double tolerance : {1e-4, 1e-7}) {
    const PlanOptions options{.tolerance = tolerance, .gradient = true, .max_leaf = 35};
    Points points = points_by_name(name, n, 2);
    Plan plan(points, options);
    const PlanInfo before = plan.info();
    CHECK(before.levels >= 4);
    Points few_steps = stepped(points, 1e-3, 3);
    Points twice = few_steps;  // each point two times: their order is the input's
    std::copy(twice.begin(), twice.begin() + n / 2, twice.begin() + n / 2);
    const std::map<std::string, Points> places{
        {"a small step", few_steps},
        {"all in twos", twice},
        {"elsewhere, and much larger", scaled(points_by_name("cube", n, 4), 1e6, {1, 2, 3})},
        {"on a lattice", lattice_points(n)},
        {"all at one place", Points(n, {1, 2, 3})}};
    for (const auto& [where, moved] : places) {
      CAPTURE(name, tolerance, where);
      plan.move(moved);
      const Plan made(moved, by_hand(options, before));
      CHECK(same_tree(plan.info(), made.info()));
      CHECK(run(plan) == run(made));
    }
    plan.move(points);
    CHECK(same_tree(plan.info(), before));
    CHECK(run(plan) == run(Plan(points, options)));
  }
}

BACKEND_TEST_CASE("sources and targets move") {
  const Points y = cube_points(3000, 5), x = sphere_points(2000, 6);
  const Points new_y = stepped(y, 0.01, 7), new_x = stepped(x, 0.3, 8);
  const PlanOptions options{.gradient = true, .max_leaf = 40};
  Plan plan(y, x, options);
  const PlanInfo before = plan.info();
  plan.move(new_y, new_x);
  CHECK(run(plan) == run(Plan(new_y, new_x, by_hand(options, before))));
}

BACKEND_TEST_CASE("choices of the plan stay where others would be made") {
  // The best leaves on a sphere are larger than those in a cube.
  const Points cube = cube_points(6000, 9), sphere = sphere_points(6000, 10);
  const PlanOptions options{.tolerance = 1e-6, .gradient = true};
  Plan plan(cube, options);
  const PlanInfo before = plan.info();
  plan.move(sphere);
  CHECK(plan.info().max_leaf == before.max_leaf);
  CHECK(plan.info().inflation == before.inflation);
  CHECK(run(plan) == run(Plan(sphere, by_hand(options, before))));
  for (const char* stage : {"choose", "sort", "tree", "lists", "operators"})
    CHECK(plan.plan_seconds().count(stage) == 1);
}

BACKEND_TEST_CASE("with Yukawa's kernel the root stays as long as it serves") {
  const Points unit = dyadic_cube(2000, 11);
  const Vec3d centre{0.5, 0.5, 0.5};
  const PlanOptions options{
      .kappa = 2, .gradient = true, .order = 4, .max_leaf = 20, .inflation = 1.5};
  const auto with_inflation = [&](double inflation, double kappa) {
    PlanOptions other = options;
    other.inflation = inflation;
    other.kappa = kappa;
    return other;
  };
  // A hull of side 5/4 in a root of side 15/8; that of a hull of side 3/2 is as large at 5/4.
  const Points small = scaled(unit, 1.25, centre), large = scaled(unit, 1.5, centre);
  Plan plan(small, options);
  plan.move(large);
  CHECK(run(plan) == run(Plan(large, with_inflation(1.25, 2))));
  plan.move(small);
  CHECK(run(plan) == run(Plan(small, options)));
  // Points that leave the root, or nearly all of it, get one of their own.
  for (const Points& others :
       {scaled(unit, 2, centre), scaled(unit, 0.5, centre), scaled(unit, 1.25, {4, 0, 0})}) {
    plan.move(others);
    CHECK(run(plan) == run(Plan(others, options)));
  }
  // Operators of Laplace's kernel serve roots of all sizes.
  Plan laplace(small, with_inflation(1.5, 0));
  laplace.move(large);
  CHECK(run(laplace) == run(Plan(large, with_inflation(1.5, 0))));
}

BACKEND_TEST_CASE("a plan that moved does not depend on the number of threads", "[threads]") {
  const int before = omp_get_max_threads();
  const Points points = plummer_points(3000, 12), moved = stepped(points, 0.01, 13);
  std::optional<Results> first;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    Plan plan(points, {.tolerance = 1e-4, .gradient = true, .max_leaf = 40});
    plan.move(moved);
    const Results r = run(plan);
    CHECK(r == first.value_or(r));
    first = r;
  }
  omp_set_num_threads(before);
}

BACKEND_TEST_CASE("a plan that cannot move is as it was") {
  const Points points = cube_points(500, 14), fewer = cube_points(499, 15);
  Plan one(points, {.gradient = true, .max_leaf = 20});
  Plan two(points, fewer, {.gradient = true, .max_leaf = 20});
  const Results of_one = run(one), of_two = run(two);
  const auto refused = [](const auto& move, const std::string& sentence) {
    CHECK_THROWS_AS(move(), InputError);
    CHECK_THROWS_WITH(move(), contains(sentence));
  };
  refused([&] { one.move(fewer); },
          "a plan of 500 sources cannot move to 499 places: make a new plan");
  refused([&] { two.move(points, points); },
          "the plan has sources and targets: move(sources, targets) moves them");
  refused([&] { two.move(points, cube_points(498, 16)); },
          "a plan of 499 targets cannot move to 498 places: make a new plan");
  refused([&] { one.move(points, fewer); },
          "the plan's sources are its targets: move(points) moves them");
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Points some = points, others = fewer;
    some[7].y = others[7].y = bad;
    refused([&] { one.move(some); }, "source 7 is not at a finite position (counted from 0)");
    refused([&] { two.move(points, others); },
            "target 7 is not at a finite position (counted from 0)");
  }
  Points far = points;
  far[3].x = -1e308;
  far[4].x = 1e308;
  refused([&] { one.move(far); }, "the points are too far apart for double precision");
  CHECK(run(one) == of_one);
  CHECK(run(two) == of_two);
}

}  // namespace fmbem::test::moved_plan_tests
