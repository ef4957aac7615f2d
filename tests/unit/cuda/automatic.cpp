// What the method automatic takes on the GPU.
#include <string>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_automatic_tests {

using cuda::make_fmm_plan;
using fmm::Method;
using fmm::PlanInfo;
using fmm::PlanOptions;

namespace {

PlanInfo info_of(const Points& points, PlanOptions options) {
  options.method = Method::automatic;
  return make_fmm_plan(points, options).info();
}

/// What is automatic is, to the last bit, the method that it says it is.
void check_same_plan(const Points& points, PlanOptions options, Method wanted) {
  const Sources sources(points.size(), 1, false, 2);
  const auto results = [&](Method method) {
    options.method = method;
    const fmm::Plan plan = make_fmm_plan(points, options);
    CHECK(plan.info().method == wanted);
    return run(plan, sources.strengths());
  };
  const Results found = results(Method::automatic), exact = results(wanted);
  CHECK(found.potential == exact.potential);
  CHECK(found.gradient == exact.gradient);
}

}  // namespace

TEST_CASE("automatic on the GPU takes the direct sum for few points and the FMM for many") {
  if (!gpu_is_there()) return;
  const auto method_of = [](std::size_t n, double tolerance) {
    return info_of(cube_points(n, 17), {.tolerance = tolerance}).method;
  };
  CHECK(method_of(1, 1e-6) == Method::direct);
  CHECK(method_of(1000, 1e-4) == Method::direct);
  CHECK(method_of(3000, 1e-10) == Method::direct);
  CHECK(method_of(100'000, 1e-3) == Method::fmm);
  check_same_plan(plummer_points(900, 18), {.gradient = true}, Method::direct);
  check_same_plan(plummer_points(50'000, 18), {.gradient = true}, Method::fmm);
}

TEST_CASE("automatic on the GPU takes a hybrid where given leaves are far from the best") {
  if (!gpu_is_there()) return;
  // By the model's rates 1e5 points take some 0.3 ms with the best leaves, 2 with these and 7 in
  // one leaf.
  const int leaf = GENERATE(5000, 1'000'000);
  const double kappa = GENERATE(0.0, 2.0);
  const auto construction = GENERATE(fmm::Construction::radix_sort, fmm::Construction::histogram);
  CAPTURE(leaf, kappa, construction);
  const Points points = cube_points(100'000, 19);
  PlanOptions options{.tolerance = 1e-4,
                      .kappa = kappa,
                      .gradient = true,
                      .max_leaf = leaf,
                      .construction = construction};
  check_same_plan(points, options, Method::hybrid);
  options.inflation = 1.1;
  options.order = 6;
  check_same_plan(points, options, Method::hybrid);
  // With leaves near the best ones, for second derivatives, which hybrids do not have, and with a
  // θ with which they have more to do, it stays with the FMM.
  options.max_leaf = 80;
  check_same_plan(points, options, Method::fmm);
  options.max_leaf = leaf;
  options.theta = 0.6;
  CHECK(info_of(points, options).method != Method::hybrid);
  options.theta = {};
  options.hessian = true;
  CHECK(info_of(cube_points(20'000, 19), options).method == Method::fmm);
}

TEST_CASE("automatic on the GPU takes the same for the same points") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "centres", "filament", "scales");
  CAPTURE(cloud);
  for (const std::size_t n : {500, 5000, 10'000, 60'000}) {
    const Points points = points_by_name(cloud, n, 20);
    const PlanInfo first = info_of(points, {.tolerance = 1e-5}),
                   second = info_of(points, {.tolerance = 1e-5});
    CHECK(first.method == second.method);
    CHECK(first.max_leaf == second.max_leaf);
    CHECK(first.order == second.order);
    // The method that is asked for is taken, whatever is faster.
    for (const Method method : {Method::direct, Method::treecode, Method::fmm, Method::hybrid})
      CHECK(make_fmm_plan(points, {.tolerance = 1e-5, .method = method}).info().method == method);
  }
}

TEST_CASE("automatic on the GPU sums few targets of many sources to the tolerance") {
  if (!gpu_is_there()) return;
  const std::string cloud = GENERATE("cube", "sphere", "filament");
  CAPTURE(cloud);
  const Points sources = points_by_name(cloud, 200'000, 21);
  const Points targets(sources.begin(), sources.begin() + 300);
  const PlanOptions options{.tolerance = 1e-5, .gradient = true, .method = Method::automatic};
  const Errors errors = errors_of(make_fmm_plan(sources, targets, options),
                                  Sources(sources.size(), 1, false, 22), sources, targets);
  CHECK(errors.potential < 1e-5);
  CHECK(errors.gradient < 1e-5);
}

}  // namespace fmbem::test::cuda_automatic_tests
