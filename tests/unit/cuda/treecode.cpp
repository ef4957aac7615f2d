// Treecodes on the GPU, against direct sums, which share nothing with them, and against the CPU's,
// whose walks and series they share.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_treecode_tests {

using cuda::make_fmm_plan;
using fmm::direct_sum;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;

TEST_CASE("treecodes on the GPU meet their tolerance") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.4, 0.6, 0.8), tolerance = GENERATE(1e-2, 1e-4, 1e-7);
  CAPTURE(cloud, theta, tolerance);
  const Points points = points_by_name(cloud, 3000, 10);
  const Sources sources(points.size(), 1, false, 11);
  const Points some(points.begin(), points.begin() + 300);
  const Plan plan = make_fmm_plan(points, {.tolerance = tolerance,
                                           .gradient = true,
                                           .max_leaf = 24,
                                           .method = Method::treecode,
                                           .theta = theta});
  const Errors errors = errors_of(plan, sources, points, some);
  CHECK(plan.info().method == Method::treecode);
  CHECK(plan.info().m2p_pairs > 0);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("treecodes on the GPU have the CPU's pairs and its results") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "plummer", "ellipsoid");
  const double theta = GENERATE(0.5, 0.7);
  int order = 0;
  fmm::Expansion expansion = fmm::Expansion::spherical;
  std::tie(order, expansion) =
      GENERATE(table<int, fmm::Expansion>({{1, fmm::Expansion::cartesian},
                                           {2, fmm::Expansion::cartesian},
                                           {3, fmm::Expansion::cartesian},
                                           {4, fmm::Expansion::cartesian},
                                           {5, fmm::Expansion::cartesian},
                                           {6, fmm::Expansion::cartesian},
                                           {1, fmm::Expansion::spherical},
                                           {6, fmm::Expansion::spherical},
                                           {11, fmm::Expansion::spherical},
                                           {25, fmm::Expansion::spherical}}));
  CAPTURE(cloud, theta, order, expansion);
  const Points points = points_by_name(cloud, 4000, 12);
  const Sources sources(points.size(), 1, false, 13);
  const PlanOptions options{.tolerance = 1e-14,  // roots to all bits
                            .precision = Precision::double_precision,
                            .gradient = true,
                            .order = order,
                            .max_leaf = 20,
                            .inflation = 1.02,
                            .method = Method::treecode,
                            .theta = theta,
                            .expansion = expansion};
  const Plan gpu = make_fmm_plan(points, options), cpu(points, options);
  CHECK(gpu.info().boxes == cpu.info().boxes);
  CHECK(gpu.info().m2p_pairs == cpu.info().m2p_pairs);
  CHECK(gpu.info().near_pairs == cpu.info().near_pairs);
  CHECK(gpu.info().expansion == expansion);
  const Errors differences(run(gpu, sources.strengths()), run(cpu, sources.strengths()));
  CHECK(differences.potential < 1e-12);
  CHECK(differences.gradient < 1e-12);
}

TEST_CASE("treecodes on the GPU by Yukawa's kernel have the CPU's pairs and its results") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "plummer", "ellipsoid");
  const double theta = GENERATE(0.5, 0.7), kappa_side = GENERATE(0.1, 6.0, 100.0, 1000.0);
  const int order = GENERATE(1, 6, 13);
  CAPTURE(cloud, theta, kappa_side, order);
  const Points points = points_by_name(cloud, 4000, 33);
  const Sources sources(points.size(), 1, false, 34);
  const PlanOptions options{.tolerance = 1e-14,  // roots to all bits
                            .precision = Precision::double_precision,
                            .kappa = kappa_side / extent(points),
                            .gradient = true,
                            .order = order,
                            .max_leaf = 20,
                            .inflation = 1.02,
                            .method = Method::treecode,
                            .theta = theta};
  const Plan gpu = make_fmm_plan(points, options), cpu(points, options);
  CHECK(gpu.info().boxes == cpu.info().boxes);
  CHECK(gpu.info().m2p_pairs == cpu.info().m2p_pairs);
  CHECK(gpu.info().near_pairs == cpu.info().near_pairs);
  const Results found = run(gpu, sources.strengths());
  const Errors differences(found, run(cpu, sources.strengths()));
  // Rounding is multiplied by κr, up to the reach, 35.
  CHECK(differences.potential < 1e-12);
  CHECK(differences.gradient < 1e-12);
  // Potentials alone take other expansions.
  std::vector<double> alone(points.size());
  gpu.evaluate(sources.strengths(), {.potential = alone});
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    difference = std::hypot(difference, alone[i] - found.potential[i]);
    size = std::hypot(size, alone[i]);
  }
  CHECK(difference < 1e-12 * size);
}

TEST_CASE("treecodes on the GPU by Yukawa's kernel are Laplace's as κ vanishes") {
  if (!gpu_is_there()) return;
  const bool single = GENERATE(false, true), dipoles = GENERATE(false, true);
  CAPTURE(single, dipoles);
  const Points y = plummer_points(3000, 35), x = cube_points(1000, 36);
  const Sources sources(y.size(), 2, dipoles, 37);
  PlanOptions options{
      .tolerance = single ? 1e-4 : 1e-9,
      .precision = single ? Precision::single_precision : Precision::double_precision,
      .gradient = true,
      .dipoles = dipoles,
      .order = 8,
      .max_leaf = 30,
      .method = Method::treecode,
      .expansion = fmm::Expansion::spherical};
  const Plan laplace = make_fmm_plan(y, x, options);
  options.kappa = 1e-14;
  const Plan yukawa = make_fmm_plan(y, x, options);
  CHECK(yukawa.info().m2p_pairs == laplace.info().m2p_pairs);
  const Errors difference(run(yukawa, sources.strengths()), run(laplace, sources.strengths()));
  CHECK(difference.potential < (single ? 1e-5 : 1e-12));
  CHECK(difference.gradient < (single ? 1e-5 : 1e-12));
}

TEST_CASE("treecodes on the GPU have other targets, dipoles and several right-hand sides") {
  if (!gpu_is_there()) return;
  const Points y = plummer_points(3000, 14), x = cube_points(2000, 15);
  const bool single = GENERATE(false, true), gradient = GENERATE(false, true);
  const double tolerance = single ? 1e-4 : 1e-8;
  CAPTURE(single, gradient);
  const Sources sources(y.size(), 10, true, 16);
  const Plan plan = make_fmm_plan(
      y, x,
      {.tolerance = tolerance,
       .precision = single ? Precision::single_precision : Precision::double_precision,
       .gradient = gradient,
       .dipoles = true,
       .max_leaf = 40,
       .method = Method::treecode});
  Results exact(10 * x.size());
  direct_sum(y, x, sources.strengths(), exact.fields());
  Results found(10 * x.size());
  plan.evaluate(sources.strengths(), {found.potential, gradient ? std::span<Vec3d>(found.gradient)
                                                                : std::span<Vec3d>()});
  if (!gradient) found.gradient = exact.gradient;
  const Errors errors(found, exact);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("the error of treecodes on the GPU is within its bound at each target") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.3, 0.6, 0.9);
  const int order = GENERATE(1, 4, 9);
  CAPTURE(cloud, theta, order);
  const Points points = points_by_name(cloud, 1500, 17);
  check_bound_of_treecode(points, 18, theta, order,
                          [](const auto&... of) { return make_fmm_plan(of...); });
}

TEST_CASE("treecodes on the GPU know close pairs of unequal clouds") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("filament", "cluster", "lattice");
  CAPTURE(cloud);
  const Points points = points_by_name(cloud, 4000, 19);
  CHECK(largest_error(
            make_fmm_plan(points, {.tolerance = 1e-4, .max_leaf = 30, .method = Method::treecode}),
            points) < 1e-4);
}

TEST_CASE("treecodes on the GPU have trees of more than 21 levels where they must") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE("cluster", "scales", "nanometres");
  const double tolerance = GENERATE(1e-3, 1e-5, 1e-9);
  CAPTURE(name, tolerance);
  const Points points = name == "nanometres" ? cluster_points(12'000, 28, 1e-9, 0.9)
                                             : points_by_name(name, 12'000, 28);
  const Sources sources(points.size(), 1, false, 29);
  PlanOptions options{
      .tolerance = tolerance, .gradient = true, .max_leaf = 30, .method = Method::treecode};
  const Plan plan = make_fmm_plan(points, options);
  const fmm::PlanInfo info = plan.info();
  CHECK((info.levels > deepest_level + 1) == (name != "cluster"));
  CHECK(info.near_pairs < 3000 * static_cast<std::int64_t>(points.size()));
  const Errors errors = errors_of(plan, sources, points, points);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
  options.inflation = info.inflation;
  const fmm::PlanInfo on_cpu = Plan(points, options).info();
  CHECK(on_cpu.boxes == info.boxes);
  CHECK(on_cpu.m2p_pairs == info.m2p_pairs);
  CHECK(on_cpu.near_pairs == info.near_pairs);
}

TEST_CASE("deep treecodes on the GPU have other targets, dipoles and close pairs") {
  if (!gpu_is_there()) return;
  const Points y = points_by_name("scales", 4000, 30), x = points_by_name("scales", 3000, 31);
  for (const double tolerance : {1e-4, 1e-9}) {
    CAPTURE(tolerance);
    Sources sources(y.size(), 2, true, 32);
    for (Vec3d& d : sources.dipoles) d = 1e-7 * d;  // or charges would not show beside them
    const PlanOptions options{.tolerance = tolerance,
                              .gradient = true,
                              .dipoles = true,
                              .max_leaf = 20,
                              .method = Method::treecode};
    const Plan plan = make_fmm_plan(y, x, options);
    CHECK(plan.info().levels > deepest_level + 1);
    const Errors errors = errors_of(plan, sources, y, x);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  }
  // Each target by itself: the largest forces are not all.
  CHECK(largest_error(
            make_fmm_plan(y, {.tolerance = 1e-4, .max_leaf = 20, .method = Method::treecode}), y) <
        1e-4);
}

TEST_CASE("treecodes on the GPU take one or two points, and many in one place") {
  if (!gpu_is_there()) return;
  for (const std::size_t n : {1, 2, 33, 65}) {
    const Points points = cube_points(n, 20);
    const Sources sources(n, 1, false, 21);
    Results exact(n);
    direct_sum(points, points, sources.strengths(), exact.fields());
    const Results found = run(
        make_fmm_plan(points, {.tolerance = 1e-10, .gradient = true, .method = Method::treecode}),
        sources.strengths());
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(std::abs(found.potential[i] - exact.potential[i]) <=
            1e-9 * std::abs(exact.potential[i]));
      CHECK(norm(found.gradient[i] - exact.gradient[i]) <= 1e-9 * norm(exact.gradient[i]));
    }
  }
  const Points points(100'000, {1, 2, 3});
  const std::vector<double> q(points.size(), 1.0);
  std::vector<double> u(points.size(), 1.0);
  make_fmm_plan(points, {.method = Method::treecode}).evaluate({.charges = q}, {.potential = u});
  CHECK(std::count(u.begin(), u.end(), 0.0) == 100'000);
}

TEST_CASE("treecodes on the GPU give the same bits every time") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(20'000, 22);
  const Sources sources(points.size(), 2, false, 23);
  for (const double tolerance : {1e-4, 1e-9}) {
    const PlanOptions options{.tolerance = tolerance, .gradient = true, .method = Method::treecode};
    const Results first = run(make_fmm_plan(points, options), sources.strengths()),
                  second = run(make_fmm_plan(points, options), sources.strengths());
    CHECK(first.potential == second.potential);
    CHECK(first.gradient == second.gradient);
  }
}

// Small enough for compute-sanitizer.
TEST_CASE("small treecodes on the GPU") {
  if (!gpu_is_there()) return;
  const Points y = GENERATE(plummer_points(400, 24), points_by_name("scales", 400, 24)),
               x = cube_points(150, 25);
  const double kappa = GENERATE(0.0, 1.0);
  for (const auto& [tolerance, order] : {std::tuple(1e-2, 4), std::tuple(1e-3, 9)}) {
    const PlanOptions options{.tolerance = tolerance,
                              .kappa = kappa,
                              .gradient = true,
                              .dipoles = true,
                              .order = order,
                              .max_leaf = 12,
                              .method = Method::treecode};
    const Sources sources(y.size(), 2, true, 26);
    const Errors errors = errors_of(make_fmm_plan(y, x, options), sources, y, x, 0, kappa);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  }
}

TEST_CASE("treecodes on the GPU refuse what they do not have") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(10, 27);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(make_fmm_plan(points, options), InputError);
    CHECK_THROWS_WITH(make_fmm_plan(points, options), contains(sentence));
  };
  for (const double theta : {0.0, -0.5, 1.5, std::nan("")})
    refused({.method = Method::treecode, .theta = theta}, "θ must be above 0 and at most 1");
  refused({.method = Method::treecode, .theta = 0.95}, "no order is sure to meet a tolerance");
  refused({.order = 41, .method = Method::treecode}, "the order must be between 1 and 40");
  refused({.order = 7, .method = Method::treecode, .expansion = fmm::Expansion::cartesian},
          "Cartesian expansions have orders up to 6");
}

}  // namespace fmbem::test::cuda_treecode_tests
