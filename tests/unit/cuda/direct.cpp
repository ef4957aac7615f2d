// Direct sums on the GPU, against compensated ones, which share nothing with them.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_direct_tests {

using cuda::make_fmm_plan;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;

TEST_CASE("direct plans on the GPU are direct sums") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const Points y = points_by_name(cloud, 3000, 1), x = cube_points(1700, 3);
  const bool same = GENERATE(true, false), dipoles = GENERATE(true, false);
  double tolerance = 0, softening = 0;
  std::tie(tolerance, softening) = GENERATE(table<double, double>(
      {{1e-13, 0}, {1e-9, 0.05}, {1e-5, 0}, {1e-5, 0.05}, {1e-4, 0}, {1e-3, 0}}));
  const int count = dipoles ? 3 : 1;
  CAPTURE(cloud, same, dipoles, tolerance, softening);
  check_direct_plan(Sources(y.size(), count, dipoles, 4), y, x, same, tolerance, softening,
                    [](const auto&... of) { return make_fmm_plan(of...); });
}

TEST_CASE("direct sums on the GPU have any number of sources and targets") {
  if (!gpu_is_there()) return;
  std::size_t n = 0, m = 0;
  std::tie(n, m) = GENERATE(table<std::size_t, std::size_t>({{1, 1},
                                                             {2, 1},
                                                             {1, 300},
                                                             {40'000, 1},
                                                             {40'000, 3},
                                                             {20'000, 130},
                                                             {7000, 2000},
                                                             {500, 40'000}}));
  const Precision precision = GENERATE(Precision::single_precision, Precision::double_precision);
  CAPTURE(n, m, precision);
  const Points y = plummer_points(n, 5), x = cube_points(m, 6);
  const double tolerance = precision == Precision::single_precision ? 1e-4 : 1e-10;
  const PlanOptions options{
      .tolerance = tolerance, .precision = precision, .gradient = true, .method = Method::direct};
  const Errors errors = errors_of(make_fmm_plan(y, x, options), Sources(n, 1, false, 7), y, x);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("direct sums on the GPU leave pairs out that coincide") {
  if (!gpu_is_there()) return;
  Points points = cube_points(400, 8);
  points.insert(points.end(), points.begin(), points.end());
  const Sources sources(points.size(), 1, false, 9);
  for (const double softening : {0.0, 0.1}) {
    for (const double tolerance : {1e-3, 1e-10}) {
      const Plan plan = make_fmm_plan(points, {.tolerance = tolerance,
                                               .gradient = true,
                                               .method = Method::direct,
                                               .softening = softening});
      const Errors errors = errors_of(plan, sources, points, points, softening);
      CHECK(errors.potential < tolerance);
      CHECK(errors.gradient < tolerance);
    }
  }
  const Points one_place(700, {1, 2, 3});
  const std::vector<double> q(700, 1.0);
  std::vector<double> u(700, 1.0);
  make_fmm_plan(one_place, {.method = Method::direct}).evaluate({.charges = q}, {.potential = u});
  CHECK(std::count(u.begin(), u.end(), 0.0) == 700);
}

TEST_CASE("direct sums on the GPU know close pairs of unequal clouds") {
  if (!gpu_is_there()) return;
  // Half of the points in a cube of a millionth of the edge, and points at u^3 around two centres:
  // pairs are closer than single precision knows coordinates.
  const std::string cloud = GENERATE("scales", "centres", "cluster");
  CAPTURE(cloud);
  const Points points = points_by_name(cloud, 4000, 10);
  CHECK(largest_error(make_fmm_plan(points, {.tolerance = 1e-4, .method = Method::direct}),
                      points) < 1e-4);
}

TEST_CASE("direct sums on the GPU give the same bits in any unit, and every time") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(5000, 11);
  Points far(points);
  constexpr double unit = 0x1p-40;
  for (Vec3d& x : far) x = unit * x;
  const std::vector<double> q = signed_charges(9 * points.size(), 12);
  for (const double tolerance : {1e-4, 1e-9}) {
    const PlanOptions options{.tolerance = tolerance, .gradient = true, .method = Method::direct};
    const Plan plan = make_fmm_plan(points, options), small = make_fmm_plan(far, options);
    const Results first = run(plan, {q, {}, 9}), second = run(plan, {q, {}, 9}),
                  scaled = run(small, {q, {}, 9});
    CHECK(first.potential == second.potential);
    CHECK(first.gradient == second.gradient);
    double difference = 0;
    for (std::size_t i = 0; i < first.potential.size(); ++i)
      difference =
          larger_error(difference, std::abs(unit * scaled.potential[i] - first.potential[i]));
    CHECK(difference == 0);
  }
}

// Small enough for compute-sanitizer.
TEST_CASE("small direct sums on the GPU") {
  if (!gpu_is_there()) return;
  const Points y = plummer_points(300, 13), x = cube_points(70, 14);
  for (const double tolerance : {1e-4, 1e-9}) {
    const PlanOptions options{
        .tolerance = tolerance, .gradient = true, .dipoles = true, .method = Method::direct};
    const Errors errors = errors_of(make_fmm_plan(y, x, options), Sources(300, 2, true, 15), y, x);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  }
}

TEST_CASE("direct sums on the GPU refuse what they do not have") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(10, 16);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(make_fmm_plan(points, options), InputError);
    CHECK_THROWS_WITH(make_fmm_plan(points, options), contains(sentence));
  };
  refused({.order = 4, .method = Method::direct}, "a direct sum has neither order nor leaves");
  refused({.softening = 0.1}, "direct sums alone have a softening");
  refused({.method = Method::direct, .softening = 1e4}, "all pairs would be alike");
  refused({.method = Method::direct, .softening = -1}, "must be a length of 0 or more");
  Points bad = points;
  bad[3].y = std::nan("");
  CHECK_THROWS_WITH(make_fmm_plan(bad, {.method = Method::direct}), contains("source 3"));
}

}  // namespace fmbem::test::cuda_direct_tests
