// Yukawa's kernel with targets apart from the sources, where nothing near hides what is left out.
#include <cmath>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/apart.hpp"
#include "tests/unit/fmm/backends.hpp"
#include "tests/unit/fmm/long_sum.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::yukawa_apart_tests {

using fmm::Method;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;

/// Errors of potentials and gradients at every `step`-th target, for charges of both signs and of
/// one.
void check_results(const Plan& plan, const Points& y, const Points& x, const PlanOptions& options,
                   std::size_t step = 13) {
  CAPTURE(options.kappa, options.tolerance, name_of(options.method), plan.info().order,
          plan.info().levels);
  for (const std::vector<double>& q :
       {signed_charges(y.size(), 5), std::vector<double>(y.size(), 1)}) {
    std::vector<double> u(x.size());
    Points g(options.gradient ? x.size() : 0);
    plan.evaluate({.charges = q}, {.potential = u, .gradient = g});
    const RelativeErrors errors = errors_by_long_sum(y, x, q, options.kappa, 0, u, g, step);
    CHECK(errors.potential <= options.tolerance);
    CHECK(errors.gradient <= options.tolerance);
  }
}
void check_plan(const Points& y, const Points& x, const PlanOptions& options) {
  check_results(Plan(y, x, options), y, x, options);
}

const Points& sources() {
  static const Points points = cube_points(3000, 1);
  return points;
}
Points targets_at(Vec3d by) { return shifted(cube_points(800, 2), by); }

}  // namespace

BACKEND_TEST_CASE("Yukawa's kernel across a gap, whatever the method", "[long][accuracy]") {
  for (const Vec3d by : {Vec3d{2, 0, 0}, Vec3d{3, 1, 0}})
    for (const double kappa : {0.1, 2.0, 6.0, 20.0})
      for (const Method method : {Method::fmm, Method::automatic, Method::direct})
        for (const double tolerance : {1e-3, 1e-6, 1e-9})
          check_plan(sources(), targets_at(by),
                     {.tolerance = tolerance, .kappa = kappa, .gradient = true, .method = method});
}

BACKEND_TEST_CASE("Yukawa's kernel across a gap by expansions", "[long]") {
  for (const double kappa : {6.0, 20.0})
    check_plan(sources(), targets_at({2, 0, 0}),
               {.tolerance = 1e-3, .kappa = kappa, .gradient = true, .method = Method::direct});
  for (const double tolerance : {1e-3, 1e-6})  // potentials alone
    check_plan(sources(), targets_at({3, 1, 0}), {.tolerance = tolerance, .kappa = 2});
  check_plan(sources(), targets_at({3, 1, 0}), {.tolerance = 1e-3, .kappa = 4, .max_leaf = 300});
  for (const Vec3d by : {Vec3d{2, 0, 0}, Vec3d{3, 1, 0}, Vec3d{-2, -2, 2}})
    for (const double kappa : {0.1, 0.9, 2.0})
      check_plan(sources(), targets_at(by),
                 {.tolerance = 1e-3, .kappa = kappa, .gradient = true, .max_leaf = 100});
}

BACKEND_TEST_CASE("Yukawa's kernel across a gap by expansions, to many digits",
                  "[long][accuracy]") {
  for (const Vec3d by : {Vec3d{2, 0, 0}, Vec3d{3, 1, 0}})
    for (const auto& [kappa, tolerance] : {std::pair(6.0, 1e-3), {2.0, 1e-6}, {0.3, 1e-9}})
      check_plan(sources(), targets_at(by),
                 {.tolerance = tolerance, .kappa = kappa, .gradient = true, .max_leaf = 300});
}

BACKEND_TEST_CASE("targets about the sources are apart from them, too") {
  Points around = sphere_points(600, 3);
  const Points inside = cube_points(2000, 4);
  for (Vec3d& x : around) x = 2.0 * x + Vec3d{0.5, 0.5, 0.5};
  check_plan(inside, around, {.tolerance = 1e-4, .kappa = 4, .gradient = true, .max_leaf = 100});
  check_plan(inside, around, {.tolerance = 1e-4, .kappa = 30, .gradient = true});
}

BACKEND_TEST_CASE("points that are far apart from all others, for Yukawa's kernel", "[long]") {
  const auto lattice = [](int n) {
    Points points;
    for (int i = 0; i < n * n * n; ++i)
      points.push_back({double(i % n), double(i / n % n), double(i / n / n)});
    return points;
  };
  const auto options_for = [](double kappa, double tolerance) {
    return PlanOptions{.tolerance = tolerance, .kappa = kappa, .gradient = true};
  };
  const auto check = [](const Points& x, const PlanOptions& options) {
    check_results(Plan(x, options), x, x, options, 1);
  };
  for (const double tolerance : {1e-3, 1e-8}) {
    for (const double kappa : {1.5, 4.0, 10.0}) {
      PlanOptions options = options_for(kappa, tolerance);
      check(lattice(10), options);
      options.max_leaf = 8;
      check(lattice(6), options);
      // most are where no other is near, and two are a pair
      Points with_pair = lattice(6);
      with_pair.push_back({3, 3, 3 + 1e-3});
      check(with_pair, options);
    }
    for (const double kappa : {20.0, 100.0}) {
      PlanOptions options = options_for(kappa, tolerance);
      check({{0, 0, 0}, {1, 0, 0}}, options);
      options.method = Method::automatic;
      check(lattice(10), options);
    }
  }
  PlanOptions beyond = options_for(20, 1e-8);
  beyond.max_leaf = 8;
  CHECK_THROWS_AS(Plan(lattice(6), beyond), InputError);
}

BACKEND_TEST_CASE("moves across wider gaps raise order and precision") {
  const PlanOptions options{.tolerance = 1e-3, .kappa = 4, .max_leaf = 100};
  Plan plan(sources(), targets_at({1.2, 0, 0}), options);
  const int order = plan.info().order;
  for (const double x : {1.5, 4.0, 1.1}) {  // pairs are 2, 12 and 0.4 over κ apart, or farther
    plan.move(sources(), targets_at({x, 0.5, 0}));
    CAPTURE(x, order);
    check_results(plan, sources(), targets_at({x, 0.5, 0}), options);
  }
  CHECK(plan.info().order > order);
  // Results and order of a plan whose move is refused stay.
  Plan other(sources(), targets_at({1.2, 0, 0}), {.tolerance = 1e-9, .kappa = 20, .max_leaf = 40});
  const int other_order = other.info().order;
  CHECK_THROWS_WITH(other.move(sources(), targets_at({3, 1, 0})),
                    contains("take the method direct"));
  CHECK(other.info().order == other_order);
}

BACKEND_TEST_CASE("what no order can do across a gap is refused") {
  const PlanOptions options{.tolerance = 1e-9, .kappa = 20, .max_leaf = 40};
  CHECK_THROWS_WITH(Plan(sources(), targets_at({3, 1, 0}), options),
                    contains("take the method direct"));
}

TEST_CASE("orders across a gap") {
  CHECK(fmm::order_apart(9, 0, 1, 1) == 9);
  CHECK(fmm::order_apart(9, 2, 0, 1) == 9);
  int before = 9;
  for (const double kappa : {0.2, 1.0, 3.0, 6.0}) {
    const int order = fmm::order_apart(9, kappa, 1, 1);
    CHECK(order >= before);
    CHECK(order <= 10 + 3 * kappa);
    before = order;
  }
  // Sources and targets among each other, however far apart the nearest of the samples are.
  CHECK(fmm::nearest_pair(20, cube_points(1000, 5), cube_points(1000, 6)) == 0);
  CHECK(fmm::nearest_pair(20, Points{{0, 0, 0}}, Points{{3, 4, 0}, {6, 8, 0}}) == 5);
}

}  // namespace fmbem::test::yukawa_apart_tests
