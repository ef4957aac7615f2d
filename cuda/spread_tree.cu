#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/choose.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/spread_tree.cuh"
#include "fmbem/cuda/strengths.cuh"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/tree/overhang.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::cuda {
namespace {

__global__ void find_deepest(SpreadProblem problem, double scale, Cube root, double overhang,
                             std::int8_t* deepest) {
  const std::int64_t j = thread_index();
  if (j >= problem.sources) return;
  deepest[j] = static_cast<std::int8_t>(fmm::deepest_level_of(
      scale * problem.centre[j] - root.corner, scale * problem.low[j] - root.corner,
      scale * problem.high[j] - root.corner, root.side, overhang, deepest_level));
}

/// The smallest cube about all there is.
Hull hull_of(const SpreadProblem& problem, cudaStream_t stream) {
  Bounds all = bounds_of(problem.target, problem.targets, stream);
  for (const Vec3d* ends : {problem.low, problem.high}) {
    const Bounds bounds = bounds_of(ends, problem.sources, stream);
    for (int axis = 0; axis < 3; ++axis) {
      all.low[axis] = std::min(all.low[axis], bounds.low[axis]);
      all.high[axis] = std::max(all.high[axis], bounds.high[axis]);
    }
  }
  return bounding_cube(all.low, all.high);
}

SortedKeys sort_sources(const SpreadProblem& problem, double scale, const Cube& root,
                        double overhang, cudaStream_t stream) {
  DeviceBuffer<std::int8_t> deepest(problem.sources, stream);
  launch(find_deepest, blocks_for(problem.sources), threads_per_block, 0, stream, problem, scale,
         root, overhang, deepest.data());
  return sort_points(problem.centre, problem.sources, scale, root, deepest.data(), stream);
}

}  // namespace

SpreadTree grow_spread_tree(const SpreadProblem& problem, const SpreadOptions& options,
                            cudaStream_t stream) {
  SpreadTree result;
  const Hull hull = hull_of(problem, stream);
  result.scale = fmm::scale_for(hull);
  const Hull scaled = fmbem::scaled(hull, result.scale);
  const auto sort_targets = [&](const Cube& root) {
    return sort_points(problem.target, problem.targets, result.scale, root, nullptr, stream);
  };
  const double tried = options.inflation.value_or(fmm::inflations[0]);
  SortedKeys targets = sort_targets(fmm::inflated(scaled, tried));
  const fmm::PlanOptions plan{.precision = options.precision,
                              .order = options.order,
                              .max_leaf = options.max_leaf,
                              .inflation = options.inflation};
  const fmm::TreeChoice choice =
      choose_tree(plan, options.order, device_rates(),
                  {problem.target, targets.order.data(), problem.targets, result.scale, scaled},
                  problem.sources, problem.targets, options.near_pair_seconds, stream);
  const Cube root = fmm::inflated(scaled, choice.inflation);
  if (choice.inflation != tried) targets = sort_targets(root);
  SortedKeys sources = sort_sources(problem, result.scale, root, options.overhang, stream);

  result.max_leaf = choice.max_leaf;
  result.inflation = choice.inflation;
  result.tree = build_tree(root, sources, &targets, choice.max_leaf, stream);
  result.far = make_far_lists(result.tree, stream);
  result.near =
      make_near_lists(result.tree, result.far.target_leaves, {}, options.targets_of_a_warp, stream);
  for (auto* axis : {&result.x, &result.y, &result.z})
    *axis = DeviceBuffer<double>(problem.targets, stream);
  place_points<double>({.points = problem.target,
                        .order = targets.order.data(),
                        .sources = nullptr,
                        .source_order = nullptr,
                        .scale = result.scale,
                        .root = root,
                        .tree = result.tree.view(),
                        .are_sources = false,
                        .leaves = result.far.target_leaves.data(),
                        .n_leaves = result.rows()},
                       {result.x.data(), result.y.data(), result.z.data()}, stream);
  result.source_order = std::move(sources.order);
  result.target_order = std::move(targets.order);
  return result;
}

}  // namespace fmbem::cuda
