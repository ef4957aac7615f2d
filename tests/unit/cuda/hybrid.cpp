// The hybrid of treecode and FMM on the GPU, against direct sums, which share nothing with it, and
// against the CPU's evaluation of the same tree and lists.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/cpu/operators.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/expansion/cartesian.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/plan_info.hpp"
#include "tests/unit/cuda/device_hybrid.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/fmm/hybrid_tree.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_hybrid_tests {

using cuda::make_fmm_plan;
using fmm::direct_sum;
using fmm::HybridCosts;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;
using fmm::PointTree;

namespace {

/// With this θ M2L is in blocks.
constexpr double theta_of_plans = 0.8660254;
constexpr double never = std::numeric_limits<double>::infinity();

/// Kernels that take about as long as those of a device; and others by which each way to act is
/// chosen somewhere.
std::vector<HybridCosts> all_costs(bool dipoles) {
  const HybridCosts usual{.pair = 1e-10,
                          .near_source = 6e-10,
                          .m2l_pair = 1e-7,
                          .m2p_target = 1e-8,
                          .p2l_source = dipoles ? never : 1e-8,
                          .box = 1e-9,
                          .parent = 5e-6};
  std::vector<HybridCosts> all(4, usual);
  all[1].pair = 1e-6;               // expansions wherever boxes are far
  all[2].pair = all[2].parent = 1;  // as few splits as there can be
  all[2].m2p_target = 0.9;
  all[3].pair = 1e-7;
  all[3].m2l_pair = 1e-5;
  all[3].p2l_source = never;
  return all;
}

PointTree hybrid_tree(const Points& y, const Points& x, int max_leaf, const HybridCosts& costs,
                      const fmm::NearReach& reach, double theta = theta_of_plans,
                      double kernel_reach = fmm::endless) {
  return test::hybrid_tree(y, x, max_leaf, theta, costs, kernel_reach, reach);
}

/// Times κ: e^{−30} is below the rounding of all sums.
constexpr double reach_of_yukawa = 30;
double kernel_reach(double kappa) { return kappa == 0 ? fmm::endless : reach_of_yukawa / kappa; }

/// Targets that are the sources are other ones here, as M2L between the same points ends earlier on
/// the CPU.
Results of_cpu(PointTree tree, const Sources& sources, int order, double theta = theta_of_plans,
               double kappa = 0) {
  if (tree.sources_are_targets) tree.other_targets = tree.sources;
  tree.sources_are_targets = false;
  Results found(sources.count * tree.targets().size());
  fmm::Seconds seconds;
  fmm::make_cpu_backend(tree, {.order = order,
                               .kappa = kappa,
                               .reach = reach_of_yukawa,
                               .method = Method::hybrid,
                               .theta = theta})
      ->evaluate(sources.strengths(), found.fields(), fmm::Direction::forward, seconds);
  return found;
}

Results of_gpu(const PointTree& tree, const Points& y, const Points& x, const Sources& sources,
               const DeviceHybridOptions& options) {
  Results found(sources.count * x.size());
  evaluate_hybrid_on_device(tree, y, x, options, sources.strengths(), found.fields());
  return found;
}

/// The results of the GPU are the CPU's of the same lists, but for what near lists reach.
void check_same_lists(const std::string& cloud, std::size_t n = 2500, double theta = theta_of_plans,
                      fmm::Expansion expansion = fmm::Expansion::spherical, double kappa = 0) {
  if (!gpu_is_there()) return;
  const bool same = GENERATE(true, false), dipoles = GENERATE(false, true);
  int order = 0, max_leaf = 0;
  std::tie(order, max_leaf) = GENERATE(table<int, int>({{5, 4}, {12, 40}}));
  if (expansion == fmm::Expansion::cartesian && order > fmm::highest_cartesian_order) return;
  CAPTURE(cloud, theta, kappa, same, dipoles, order, max_leaf);
  const Points y = points_by_name(cloud, n, 1), others = plummer_points(2 * n / 5, 2);
  const Points& x = same ? y : others;
  const Sources sources(y.size(), 2, dipoles, 3);
  const auto kept = fmm::cpu_operators<double>(fmm::Laplace(), fmm::ParityOrder(order),
                                               fmm::m2l_orders(false));  // for all costs
  for (const HybridCosts& costs : all_costs(dipoles)) {
    const double reach = kernel_reach(kappa);
    const Results exact =
        of_cpu(hybrid_tree(y, x, max_leaf, costs, fmm::integer_reach, theta, reach), sources, order,
               theta, kappa);
    const auto difference = [&](Precision far, Precision near) {
      const PointTree tree =
          hybrid_tree(y, x, max_leaf, costs, near_reach_on_device(near), theta, reach);
      return Errors(of_gpu(tree, y, x, sources, {order, far, near, expansion, kappa, reach}),
                    exact);
    };
    // Rounding alone, as of treecodes.
    const Errors in_double = difference(Precision::double_precision, Precision::double_precision);
    CHECK(in_double.potential < 1e-12);
    CHECK(in_double.gradient < 1e-12);
    // What plans take single precision for.
    for (const Precision far : {Precision::single_precision, Precision::double_precision})
      for (const Precision near : {Precision::single_precision, Precision::double_precision}) {
        const Errors some = difference(far, near);
        CHECK(some.potential < 1e-5);
        CHECK(some.gradient < 1e-5);
      }
  }
}

}  // namespace

// Each cloud by itself, so that they run side by side.
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: a cube") {
  check_same_lists("cube");
}
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: a sphere") {
  check_same_lists("sphere");
}
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: two centres") {
  check_same_lists("centres");
}
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: a filament") {
  check_same_lists("filament");
}
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: a cube by displacements") {
  check_same_lists("cube", 800, 0.45);
}
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: centres by displacements") {
  check_same_lists("centres", 800, 0.6);
}
TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: Cartesian expansions") {
  check_same_lists("centres", 800, GENERATE(0.5, theta_of_plans), fmm::Expansion::cartesian);
}

TEST_CASE("hybrids on the GPU have the CPU's results of the same lists: Yukawa's kernel") {
  // With the larger κ boxes of the first level have no expansions.
  check_same_lists("centres", 800, GENERATE(0.5, theta_of_plans), fmm::Expansion::spherical,
                   GENERATE(0.2, 1.5));
}

TEST_CASE("hybrids on the GPU by Yukawa's kernel are Laplace's as κ vanishes") {
  if (!gpu_is_there()) return;
  const double theta = GENERATE(0.5, theta_of_plans);
  const bool dipoles = GENERATE(false, true);
  const Points y = points_by_name("centres", 1500, 28), x = plummer_points(600, 29);
  const Sources sources(y.size(), 2, dipoles, 30);
  for (const HybridCosts& costs : all_costs(dipoles)) {
    const PointTree tree =
        hybrid_tree(y, x, 4, costs, near_reach_on_device(Precision::double_precision), theta);
    DeviceHybridOptions options{8, Precision::double_precision, Precision::double_precision};
    const Results laplace = of_gpu(tree, y, x, sources, options);
    options.kappa = 1e-14;
    const Errors difference(of_gpu(tree, y, x, sources, options), laplace);
    CHECK(difference.potential < 1e-12);
    CHECK(difference.gradient < 1e-12);
  }
}

TEST_CASE("Cartesian expansions of hybrids on the GPU have orders from 1 to 6") {
  if (!gpu_is_there()) return;
  const Points y = points_by_name("centres", 1500, 20), x = plummer_points(600, 21);
  const Sources sources(y.size(), 1, false, 22);
  const PointTree tree =
      hybrid_tree(y, x, 4, all_costs(false)[1], near_reach_on_device(Precision::double_precision));
  for (int order = 1; order <= fmm::highest_cartesian_order; ++order) {
    CAPTURE(order);
    DeviceHybridOptions options{order, Precision::double_precision, Precision::double_precision};
    const Results spherical = of_gpu(tree, y, x, sources, options);
    options.expansion = fmm::Expansion::cartesian;
    const Results cartesian = of_gpu(tree, y, x, sources, options);
    CHECK_FALSE(cartesian.potential == spherical.potential);
    const Errors difference(cartesian, spherical);
    CHECK(difference.potential < 1e-13);
    CHECK(difference.gradient < 1e-13);
  }
}

TEST_CASE("the lists that hybrids on the GPU are tested with have every way to act") {
  const Points y = points_by_name("centres", 3000, 1), x = plummer_points(1200, 2);
  const double theta = GENERATE(0.3, 0.6, theta_of_plans);
  CAPTURE(theta);
  fmm::PlanInfo all{};
  for (const HybridCosts& costs : all_costs(false)) {
    const PointTree tree =
        hybrid_tree(y, x, 4, costs, near_reach_on_device(Precision::single_precision), theta);
    fmm::PlanInfo info{};
    fmm::count_hybrid(tree, info);
    all.m2p_pairs += info.m2p_pairs;
    all.p2l_pairs += info.p2l_pairs;
    all.near_pairs += info.near_pairs;  // out of the near lists' reach
    all.m2l_rows += info.m2l_rows;
    all.m2l_pairs += info.m2l_pairs;
  }
  CHECK(all.m2p_pairs > 1000);
  CHECK(all.p2l_pairs > 1000);
  CHECK(all.near_pairs > 1000);
  CHECK((theta == theta_of_plans ? all.m2l_rows > 100 : all.m2l_pairs > 1000));
}

TEST_CASE("hybrids on the GPU meet their tolerance, whatever leaves are asked for") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "plummer", "centres", "filament", "scales");
  const double tolerance = GENERATE(1e-2, 1e-4, 1e-8);
  CAPTURE(cloud, tolerance);
  const Points points = points_by_name(cloud, 20'000, 4);
  const Sources sources(points.size(), 1, false, 5);
  const Points some(points.begin(), points.begin() + 300);
  Results exact(some.size());
  direct_sum(points, some, sources.strengths(), exact.fields());
  for (const int leaf : {16, 32, 64, 128, 256, 512}) {
    CAPTURE(leaf);
    const Plan plan = make_fmm_plan(
        points,
        {.tolerance = tolerance, .gradient = true, .max_leaf = leaf, .method = Method::hybrid});
    const Errors errors(run(plan, sources.strengths()), exact);
    CHECK(plan.info().method == Method::hybrid);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  }
}

TEST_CASE("hybrids on the GPU meet their tolerance for any θ and either expansion") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "centres", "scales");
  double theta = 0, tolerance = 0;
  std::tie(theta, tolerance) =
      GENERATE(table<double, double>({{0.25, 1e-4}, {0.5, 1e-2}, {0.5, 1e-7}, {0.7, 1e-5}}));
  CAPTURE(cloud, theta, tolerance);
  const Points points = points_by_name(cloud, 20'000, 23);
  const Sources sources(points.size(), 1, false, 24);
  Plan plan = make_fmm_plan(points, {.tolerance = tolerance,
                                     .gradient = true,
                                     .max_leaf = 30,
                                     .method = Method::hybrid,
                                     .theta = theta});
  const auto check = [&](const Points& all) {
    const Points some(all.begin(), all.begin() + 300);
    Results exact(some.size());
    direct_sum(all, some, sources.strengths(), exact.fields());
    const Errors errors(run(plan, sources.strengths()), exact);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  };
  CHECK(plan.info().m2l_rows == 0);
  CHECK((tolerance < 1e-3 || plan.info().expansion == fmm::Expansion::cartesian));
  check(points);
  const Points moved = points_by_name("plummer", points.size(), 25);
  plan.move(moved);
  check(moved);
}

TEST_CASE("the error of hybrids on the GPU is within its bound at each target") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "centres");
  const double theta = GENERATE(0.3, 0.5, 0.8);
  const int order = GENERATE(1, 4, 9);
  CAPTURE(cloud, theta, order);
  const Points points = points_by_name(cloud, 1500, 26);
  check_bound_of_expansions(points, 27, theta, order, [&](const auto& q, auto& u) {
    HybridCosts costs = all_costs(false)[0];
    costs.pair = 1e-6;
    const PointTree tree = hybrid_tree(points, points, 6, costs,
                                       near_reach_on_device(Precision::double_precision), theta);
    Results found(points.size());
    evaluate_hybrid_on_device(tree, points, points,
                              {order, Precision::double_precision, Precision::double_precision,
                               order > 6 ? fmm::Expansion::spherical : fmm::Expansion::cartesian},
                              {.charges = q}, found.fields());
    u = found.potential;
  });
}

TEST_CASE("hybrids on the GPU have other targets, dipoles, several right-hand sides, and moves") {
  if (!gpu_is_there()) return;
  const Points y = points_by_name("centres", 150'000, 6), x = cube_points(60'000, 7);
  const bool single = GENERATE(false, true), dipoles = GENERATE(false, true);
  const double tolerance = single ? 1e-4 : 1e-8;
  CAPTURE(single, dipoles);
  Plan plan = make_fmm_plan(
      y, x,
      {.tolerance = tolerance,
       .precision = single ? Precision::single_precision : Precision::double_precision,
       .gradient = true,
       .dipoles = dipoles,
       .method = Method::hybrid});
  CHECK(plan.info().levels > 3);
  // The last of `count` right-hand sides, at some targets.
  const auto check = [&](const Points& from, const Points& to, int count) {
    const Sources sources(from.size(), 1, dipoles, 8);
    const Points some(to.begin(), to.begin() + 200);
    Results exact(some.size());
    direct_sum(from, some, sources.strengths(), exact.fields());
    Sources all(from.size(), count, dipoles, 9);
    const auto last = static_cast<std::ptrdiff_t>((count - 1) * from.size());
    std::copy(sources.charges.begin(), sources.charges.end(), all.charges.begin() + last);
    std::copy(sources.dipoles.begin(), sources.dipoles.end(),
              all.dipoles.begin() + (dipoles ? last : 0));
    Results found = run(plan, all.strengths());
    const auto before = static_cast<std::ptrdiff_t>((count - 1) * to.size());
    found.potential.erase(found.potential.begin(), found.potential.begin() + before);
    found.gradient.erase(found.gradient.begin(), found.gradient.begin() + before);
    const Errors errors(found, exact);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  };
  check(y, x, 10);
  const Points moved = points_by_name("sphere", y.size(), 9), to = plummer_points(x.size(), 10);
  plan.move(moved, to);
  check(moved, to, 1);
  check(moved, to, 3);
}

TEST_CASE("the work of hybrids on the GPU does not depend on the leaf size asked for") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "centres");
  const Points points = points_by_name(cloud, 200'000, 11);
  // Pairs and rows, each over their number of the first size: what is spent on one of them is
  // saved on the other.
  double first_pairs = 0, first_rows = 0, least = never, most = 0;
  for (const int leaf : {16, 32, 64, 128, 256, 512}) {
    const fmm::PlanInfo info =
        make_fmm_plan(points, {.tolerance = 1e-4, .max_leaf = leaf, .method = Method::hybrid})
            .info();
    const auto pairs = static_cast<double>(info.near_pairs),
               rows = static_cast<double>(info.m2l_rows);
    if (first_pairs == 0) std::tie(first_pairs, first_rows) = std::tuple(pairs, rows);
    CAPTURE(cloud, leaf, pairs, rows, first_pairs, first_rows);
    CHECK(pairs < 1.25 * first_pairs);
    CHECK(rows < 1.25 * first_rows);
    least = std::min(least, pairs / first_pairs + rows / first_rows);
    most = std::max(most, pairs / first_pairs + rows / first_rows);
  }
  CHECK(most < 1.05 * least);
}

TEST_CASE("hybrids on the GPU take one or two points, and many in one place") {
  if (!gpu_is_there()) return;
  for (const std::size_t n : {1, 2, 33, 700}) {
    Points points = cube_points(n, 12);
    points.insert(points.end(), points.begin(), points.end());  // each twice
    const Sources sources(points.size(), 1, false, 13);
    Results exact(points.size());
    direct_sum(points, points, sources.strengths(), exact.fields());
    const Results found =
        run(make_fmm_plan(points, {.tolerance = 1e-10, .gradient = true, .method = Method::hybrid}),
            sources.strengths());
    double potential = 0, gradient = 0, largest = 0, steepest = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      potential = larger_error(potential, std::abs(found.potential[i] - exact.potential[i]));
      gradient = larger_error(gradient, norm(found.gradient[i] - exact.gradient[i]));
      largest = larger_error(largest, std::abs(exact.potential[i]));
      steepest = larger_error(steepest, norm(exact.gradient[i]));
    }
    CHECK(potential <= 1e-9 * largest);
    CHECK(gradient <= 1e-9 * steepest);
  }
  const Points points(100'000, {1, 2, 3});
  const std::vector<double> q(points.size(), 1.0);
  std::vector<double> u(points.size(), 1.0);
  make_fmm_plan(points, {.method = Method::hybrid}).evaluate({.charges = q}, {.potential = u});
  CHECK(std::count(u.begin(), u.end(), 0.0) == 100'000);
}

TEST_CASE("hybrids on the GPU give the same bits every time") {
  if (!gpu_is_there()) return;
  const Points points = points_by_name("centres", 30'000, 14);
  const Sources sources(points.size(), 2, false, 15);
  const double theta = GENERATE(0.5, theta_of_plans);
  for (const double tolerance : {1e-4, 1e-9}) {
    const PlanOptions options{
        .tolerance = tolerance, .gradient = true, .method = Method::hybrid, .theta = theta};
    const Plan plan = make_fmm_plan(points, options);
    const Results first = run(plan, sources.strengths()), again = run(plan, sources.strengths()),
                  second = run(make_fmm_plan(points, options), sources.strengths());
    CHECK(first.potential == again.potential);
    CHECK(first.gradient == again.gradient);
    CHECK(first.potential == second.potential);
    CHECK(first.gradient == second.gradient);
  }
}

// Small enough for compute-sanitizer.
TEST_CASE("small hybrids on the GPU") {
  if (!gpu_is_there()) return;
  const Points y = points_by_name("centres", 500, 16), x = plummer_points(200, 17);
  const Sources sources(y.size(), 2, false, 18);
  const double theta = GENERATE(0.5, theta_of_plans), kappa = GENERATE(0.0, 0.2),
               reach = kernel_reach(kappa);
  for (const HybridCosts& costs : all_costs(false)) {
    const Results exact = of_cpu(hybrid_tree(y, x, 4, costs, fmm::integer_reach, theta, reach),
                                 sources, 5, theta, kappa);
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      const PointTree tree =
          hybrid_tree(y, x, 4, costs, near_reach_on_device(precision), theta, reach);
      const fmm::Expansion expansion = precision == Precision::single_precision && kappa == 0
                                           ? fmm::Expansion::cartesian
                                           : fmm::Expansion::spherical;
      const Errors errors(
          of_gpu(tree, y, x, sources, {5, precision, precision, expansion, kappa, reach}), exact);
      CHECK(errors.potential < 1e-5);
      CHECK(errors.gradient < 1e-5);
    }
  }
}

TEST_CASE("hybrids on the GPU with trees by histogram give the bits of those with sorted ones") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "scales");
  const bool same = GENERATE(true, false), given = GENERATE(false, true);
  CAPTURE(cloud, same, given);
  const Points y = points_by_name(cloud, 6000, 23), x = plummer_points(1500, 24),
               moved = points_by_name(cloud, 6000, 25);
  const Sources sources(y.size(), 1, false, 26);
  PlanOptions options{.tolerance = 1e-4, .gradient = true, .method = Method::hybrid};
  if (given) options.order = 7, options.max_leaf = 50, options.inflation = 1.1;
  const auto plan_of = [&] {
    return same ? make_fmm_plan(y, options) : make_fmm_plan(y, x, options);
  };
  Plan sorted = plan_of();
  options.construction = fmm::Construction::histogram;
  Plan counted = plan_of();
  const auto check = [&] {
    const Results found = run(counted, sources.strengths()),
                  exact = run(sorted, sources.strengths());
    CHECK(found.potential == exact.potential);
    CHECK(found.gradient == exact.gradient);
  };
  check();
  for (Plan* plan : {&sorted, &counted}) same ? plan->move(moved) : plan->move(moved, x);
  check();
}

TEST_CASE("hybrids on the GPU refuse what they do not have") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(10, 19);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(make_fmm_plan(points, options), InputError);
    CHECK_THROWS_WITH(make_fmm_plan(points, options), contains(sentence));
  };
  for (const double bad : {0.0, -0.5, 1.5, std::nan("")})
    refused({.method = Method::hybrid, .theta = bad}, "θ must be above 0 and at most 1");
  refused({.order = 7, .method = Method::hybrid, .expansion = fmm::Expansion::cartesian},
          "Cartesian expansions have orders up to 6");
  refused({.dipoles = true, .method = Method::hybrid, .third_law = fmm::ThirdLaw::always},
          "an FMM or a hybrid without dipoles");
}

}  // namespace fmbem::test::cuda_hybrid_tests
