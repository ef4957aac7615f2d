// Stages and counts of plans with data on the host, whose work is done on the GPU.
#include <set>
#include <string>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/operations.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_stages_tests {

using cuda::make_fmm_plan;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;

namespace {

using Names = std::set<std::string>;

Names names_of(const fmm::Seconds& seconds) {
  Names names;
  for (const auto& [stage, of_stage] : seconds) {
    CHECK(of_stage >= 0);
    names.insert(stage);
  }
  return names;
}

Names stages_of(Method method) {
  switch (method) {
    case Method::direct:
      return {"copy", "sort", "P2P", "results"};
    case Method::treecode:
      return {"copy", "sort", "P2M", "M2M", "M2P", "results"};
    case Method::hybrid:
      return {"copy", "sort", "P2P", "P2L", "P2M", "M2M", "gather", "M2L", "L2L", "M2P", "L2P"};
    default:
      return {"copy", "sort", "P2P", "P2M", "M2M", "gather", "M2L", "L2L", "L2P"};
  }
}

}  // namespace

TEST_CASE("each method on the GPU tells its stages, with the same bits") {
  if (!gpu_is_there()) return;
  const Method method = GENERATE(Method::direct, Method::treecode, Method::fmm, Method::hybrid);
  const double tolerance = GENERATE(1e-4, 1e-9);  // single and double precision
  CAPTURE(name_of(method), tolerance);
  const Points y = plummer_points(20'000, 1), x = plummer_points(20'000, 2);
  const bool same = GENERATE(true, false);
  PlanOptions options{.tolerance = tolerance, .gradient = true, .method = method};
  if (method != Method::direct) options.max_leaf = 60;
  const Plan plan = same ? make_fmm_plan(y, options) : make_fmm_plan(y, x, options);
  const Sources sources(y.size(), 3, false, 3);
  const Results whole = run(plan, sources.strengths());
  CHECK(names_of(plan.evaluate_seconds()) == Names{"copy", "evaluate"});
  Results by_stages(3 * plan.targets());
  plan.evaluate_stages(sources.strengths(), by_stages.fields());
  CHECK(names_of(plan.evaluate_seconds()) == stages_of(method));
  CHECK(by_stages.potential == whole.potential);
  CHECK(by_stages.gradient == whole.gradient);
  // And as before afterwards, by a graph where there is one.
  const Results again = run(plan, sources.strengths());
  CHECK(names_of(plan.evaluate_seconds()) == Names{"copy", "evaluate"});
  CHECK(again.potential == whole.potential);
  CHECK(again.gradient == whole.gradient);
}

TEST_CASE("pairs and operations on the GPU are counted as on the CPU") {
  if (!gpu_is_there()) return;
  const Method method = GENERATE(Method::direct, Method::treecode, Method::fmm);
  const std::string cloud = GENERATE("cube", "plummer");
  CAPTURE(name_of(method), cloud);
  const Points points = points_by_name(cloud, 5000, 4);
  PlanOptions options{.tolerance = 1e-6, .gradient = true, .method = method};
  if (method != Method::direct) options.order = 5, options.max_leaf = 30, options.inflation = 1.02;
  const fmm::PlanInfo gpu = make_fmm_plan(points, options).info(),
                      cpu = Plan(points, options).info();
  CHECK(gpu.method == method);
  CHECK(gpu.near_pairs == cpu.near_pairs);
  CHECK(gpu.m2p_pairs == cpu.m2p_pairs);
  // A parent has all 26 rows there.
  CHECK(gpu.m2l_rows >= cpu.m2l_rows);
  CHECK(gpu.m2l_rows % 26 == 0);
  auto on_gpu = fmm::plan_operations(gpu, true, true, Processor::gpu),
       on_cpu = fmm::plan_operations(cpu, true, true, Processor::cpu);
  CHECK(on_cpu.at("P2P") == 20.0 * static_cast<double>(gpu.near_pairs));
  if (method == Method::treecode) {  // one kernel sums both
    CHECK(on_gpu.count("P2P") == 0);
    CHECK(on_gpu.at("M2P") == on_cpu.at("M2P") + on_cpu.at("P2P"));
  } else {
    CHECK(on_gpu.at("P2P") == on_cpu.at("P2P"));
  }
}

}  // namespace fmbem::test::cuda_stages_tests
