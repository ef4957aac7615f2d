// How a plan makes its tree and its lists.
#include <algorithm>

#include "fmbem/cuda/fmm_plan_impl.cuh"
#include "fmbem/cuda/histogram_tree.cuh"
#include "fmbem/cuda/merge_leaves.cuh"
#include "fmbem/cuda/resort_points.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda {

/// The tree has the same bits either way. Where no keys are needed for choices a histogram, which
/// counts points in the order of before, is faster, of trees that are neither so deep that it has
/// many more cells than points, nor so flat that few cells count many points.
bool FmmPlan::Impl::moves_by_histogram() const {
  constexpr int flattest = 5;
  constexpr std::size_t most_cells = 4;  // for each point
  const int depth = std::max(tree.tree.levels() - 1, cell_level);
  return by_histogram() || (histogram_serves && depth >= flattest && depth <= deepest_histogram &&
                            std::size_t{1} << 3 * depth <= most_cells * std::max(sources, targets));
}

/// Sorts the points, of some of which the keys are there, or counts them, and makes tree and lists.
FmmPlan::Impl::Grown FmmPlan::Impl::grow_tree(const PointsToPlan& points, const Cube& root,
                                              SortedKeys keys, bool counts,
                                              const StageDone& stage_done) {
  if (is_hybrid()) return grow_hybrid_tree(points, root, stage_done);
  Grown grown;
  grown.points.sources = points.sources;
  grown.points.targets = points.targets;
  PlanTree& to = grown.tree;
  to.scale = points.scale;
  to.same = points.same();
  SortedKeys source_keys, target_keys;
  std::optional<HistogramTree> counted;
  const PlanOrder before = evaluation ? evaluation->order() : PlanOrder();
  if (counts) {
    const PointsToCount others{points.targets.data, count(points.targets), before.targets};
    counted = build_tree_by_histogram(
        root, to.scale, {points.sources.data, count(points.sources), before.sources},
        to.same ? nullptr : &others, choice.max_leaf, cell_level, stream);
    histogram_serves = counted.has_value();
    if (counted) cell_level = counted->level;
  }
  if (counted) {
    grown.points.source_order = std::move(counted->sources.order);
    grown.points.target_order = std::move(counted->targets.order);
    grown.points.gathered_sources = std::move(counted->sources.gathered);
    grown.points.gathered_targets = std::move(counted->targets.gathered);
    to.tree = std::move(counted->tree);
  } else if (resort(points, before, to.scale, root, grown.points, source_keys, target_keys)) {
    stage_done("sort");
  } else {
    if (keys.size() == 0 || choice.inflation != first_inflation())
      keys = sort(points.more(), to.scale, root);
    (points.more_targets() ? target_keys : source_keys) = std::move(keys);
    if (points.more_targets())
      source_keys = sort(points.sources, to.scale, root);
    else if (!to.same)
      target_keys = sort(points.targets, to.scale, root);
    stage_done("sort");
  }
  if (!counted) {
    const SortedKeys* const other = to.same ? nullptr : &target_keys;
    to.tree = build_tree(root, source_keys, other, choice.max_leaf, stream);
    grown.points.source_order = std::move(source_keys.order);
    grown.points.target_order = std::move(target_keys.order);
  }
  grown.one_place = one_places(grown);
  if (has_crowded_boxes(to.tree, grown.one_place, choice.max_leaf, stream)) {
    grow_deep_tree(root, grown);
    grown.one_place = one_places(grown);
  }
  if (options.method == fmm::Method::fmm) {
    merge_leaves(to.tree, choice.max_leaf, stream);
    grown.one_place = one_places(grown);
  }
  stage_done("tree");
  to.far = make_far_lists(to.tree, stream, !is_treecode());
  if (!is_treecode())
    to.near = make_near_lists(to.tree, to.far.target_leaves, grown.one_place, targets_of_a_warp(),
                              stream);
  weigh_third_law(to.near.pairs, static_cast<std::int64_t>(to.near.items.size()));
  stage_done("lists");
  return grown;
}

/// Sorts points that move by the tree that they come from, if there is one and that serves.
bool FmmPlan::Impl::resort(const PointsToPlan& points, const PlanOrder& before, double scale,
                           const Cube& root, PlanPoints& gathered, SortedKeys& sources_to,
                           SortedKeys& targets_to) {
  if (!before.sources || tree.tree.deepest() > deepest_level || !leaves_serve) return false;
  const auto sort_some = [&](const DevicePoints& some, const std::int32_t* order_before,
                             const TreeView& view, const DeviceBuffer<std::int32_t>& leaves,
                             GatheredPoints& gathered_to, SortedKeys& to) {
    auto resorted =
        resort_points({some.data, count(some), order_before}, scale, root, view, leaves, stream);
    leaves_serve = resorted.has_value();
    if (!resorted) return false;
    gathered_to = std::move(resorted->gathered);
    to = std::move(resorted->sorted);
    return true;
  };
  const TreeView view = tree.tree.view();
  return sort_some(points.sources, before.sources, view, tree.far.source_boxes,
                   gathered.gathered_sources, sources_to) &&
         (points.same() ||
          sort_some(points.targets, before.targets, view.transposed(), tree.far.target_leaves,
                    gathered.gathered_targets, targets_to));
}

DeviceBuffer<std::uint8_t> FmmPlan::Impl::one_places(const Grown& grown) const {
  const PlanPoints& points = grown.points;
  const PlacesInOrder from{points.sources.data, points.source_order.data()},
      to{points.targets.data, points.target_order.data()};
  return find_one_places(grown.tree.tree, from, grown.tree.same ? from : to, stream);
}

/// The tree anew, with twice as many levels to go down to, and the points in its order.
void FmmPlan::Impl::grow_deep_tree(const Cube& root, Grown& grown) const {
  PlanPoints& points = grown.points;
  const auto deep = [&](const DevicePoints& some) {
    return sort_points_deep(some.data, count(some), grown.tree.scale, root, stream);
  };
  DeepKeys from = deep(points.sources), to;
  if (!grown.tree.same) to = deep(points.targets);
  grown.tree.tree =
      build_tree(root, from, grown.tree.same ? nullptr : &to, choice.max_leaf, stream);
  points.source_order = std::move(from.order);
  points.target_order = std::move(to.order);
  points.gathered_sources = {};
  points.gathered_targets = {};
}

/// Trees end at the deepest level that keys can tell. What is left there in one box is summed
/// directly, which would be too much where most points are.
void FmmPlan::Impl::refuse_crowded_boxes(const Grown& grown) const {
  constexpr double most_pairs = 1e5;  // of a target: 1e12 pairs of 1e7 points take some 0.4 s
  if (grown.tree.tree.levels() <= grown.tree.tree.deepest()) return;
  const std::int64_t pairs = is_treecode() ? treecode_pairs(grown.tree, grown.one_place.data()).p2p
                                           : grown.tree.near.pairs;
  const double of_each = static_cast<double>(pairs) / static_cast<double>(targets);
  FMBEM_REQUIRE(
      of_each <= most_pairs,
      "the points crowd in less than 3e-13 of their extent, where trees end, so that each would be "
      "summed with "
          << static_cast<std::int64_t>(of_each)
          << " others directly: leave out points that are so close, or put them together");
}

SortedKeys FmmPlan::Impl::sort(const DevicePoints& points, double scale, const Cube& root) const {
  return sort_points(points.data, count(points), scale, root, nullptr, stream);
}

}  // namespace fmbem::cuda
