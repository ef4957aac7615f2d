// Trees and lists of hybrids, from the host's.
#include <algorithm>
#include <limits>
#include <vector>

#include "fmbem/cuda/fmm_plan_impl.cuh"
#include "fmbem/cuda/hybrid.cuh"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/plan_info.hpp"
#include "fmbem/fmm/tree/histogram.hpp"
#include "fmbem/fmm/tree/sorted_points.hpp"

namespace fmbem::cuda {
namespace {

std::vector<int2> ranges_of(const fmm::Octree& octree, fmm::Range fmm::Box::*which) {
  std::vector<int2> ranges;
  for (const fmm::Box& box : octree.boxes) ranges.push_back({(box.*which).begin, (box.*which).end});
  return ranges;
}

/// Boxes that act on the targets of each leaf: those that act on the leaf or on a box that it is
/// in.
class ActingOnLeaves {
 public:
  ActingOnLeaves(const fmm::PointTree& tree, const fmm::BoxRows& rows) : tree_(tree), rows_(rows) {
    if (rows.sources.empty()) return;
    for (const std::int32_t leaf : tree.lists.p2p.targets) add(leaf);
    // The longest first, so that none is alone in the end.
    std::stable_sort(items_.begin(), items_.end(),
                     [](const ActingItem& a, const ActingItem& b) { return a.boxes > b.boxes; });
  }

  ActingLists on_device(cudaStream_t stream) const {
    constexpr std::int32_t boxes_for_a_block = 32;
    const auto end_of_long = std::partition_point(
        items_.begin(), items_.end(),
        [](const ActingItem& item) { return item.boxes >= boxes_for_a_block; });
    return {to_device(items_, stream), end_of_long - items_.begin(), to_device(boxes_, stream)};
  }

 private:
  void add(std::int32_t leaf) {
    const std::size_t before = boxes_.size();
    for (std::int32_t box = leaf; box >= 0; box = tree_.octree.boxes[box].parent)
      boxes_.insert(boxes_.end(), rows_[box].begin(), rows_[box].end());
    const auto acting = static_cast<std::int32_t>(boxes_.size() - before);
    if (acting == 0) return;
    const fmm::Range targets = tree_.octree.boxes[leaf].targets;
    for (std::int32_t first = targets.begin; first < targets.end; first += targets_of_an_item)
      items_.push_back({static_cast<std::int64_t>(before), acting, leaf, first,
                        std::min(targets.end - first, targets_of_an_item)});
  }

  const fmm::PointTree& tree_;
  const fmm::BoxRows& rows_;
  std::vector<ActingItem> items_;
  std::vector<std::int32_t> boxes_;
};

DeviceTree device_tree(const fmm::Octree& octree, bool same, cudaStream_t stream) {
  std::vector<std::uint64_t> code, upper_code;
  std::vector<std::int32_t> split_of, parent, box_of, child, colleague;
  DeviceTree tree;
  tree.root = octree.root;
  tree.boxes = static_cast<std::int64_t>(octree.boxes.size());
  tree.box_begin = octree.level_begin;
  tree.split_begin.assign(tree.box_begin.size(), 0);
  for (std::size_t b = 0; b < octree.boxes.size(); ++b) {
    const fmm::Box& box = octree.boxes[b];
    const fmm::TreeKey own = first_code<fmm::TreeKey>(box.level) + fmm::key_of(box.cell);
    code.push_back(static_cast<std::uint64_t>(own));
    upper_code.push_back(static_cast<std::uint64_t>(own >> 64));
    parent.push_back(box.parent < 0 ? -1 : split_of[box.parent]);
    split_of.push_back(box.is_leaf ? -1 : static_cast<std::int32_t>(box_of.size()));
    if (box.is_leaf) continue;
    box_of.push_back(static_cast<std::int32_t>(b));
    child.insert(child.end(), box.child.begin(), box.child.end());
    colleague.insert(colleague.end(), octree.colleagues[b].begin(), octree.colleagues[b].end());
    ++tree.split_begin[box.level + 1];
  }
  for (std::size_t level = 1; level < tree.split_begin.size(); ++level)
    tree.split_begin[level] += tree.split_begin[level - 1];
  tree.splits = static_cast<std::int64_t>(box_of.size());
  const auto sources = ranges_of(octree, &fmm::Box::sources),
             targets = ranges_of(octree, &fmm::Box::targets);
  tree.code = to_device(code, stream);
  if (upper_code.back() > 0) tree.upper_code = to_device(upper_code, stream);
  tree.split_of = to_device(split_of, stream);
  tree.parent = to_device(parent, stream);
  tree.box_of = to_device(box_of, stream);
  tree.child = to_device(child, stream);
  tree.colleague = to_device(colleague, stream);
  tree.sources = to_device(sources, stream);
  if (!same) tree.other_targets = to_device(targets, stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // before the host's arrays go
  return tree;
}

/// Warps of P2P, where none has fewer targets for a long row.
std::int64_t warps_of_p2p(const fmm::PointTree& tree, int most) {
  std::int64_t items = 0;
  for (const std::int32_t leaf : tree.lists.p2p.targets)
    items += (tree.octree.boxes[leaf].targets.size() + most - 1) / most;
  return items;
}

/// By the third law all items have as many targets as there may be.
NearRows device_near_rows(const fmm::PointTree& tree, bool third_law, cudaStream_t stream) {
  const fmm::NearLists& lists = tree.lists.p2p;
  constexpr std::int64_t of_the_mean = 4;
  const auto targets = static_cast<std::int64_t>(tree.targets().size());
  const std::int64_t long_row = of_the_mean * (fmm::near_pairs(tree.octree, lists) / targets + 1);
  NearRows rows{to_device(lists.begin, stream), to_device(lists.sources, stream),
                third_law ? std::numeric_limits<std::int64_t>::max() : long_row};
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return rows;
}

HybridDeviceLists device_hybrid_lists(const fmm::PointTree& tree, fmm::DisplacedLevels levels,
                                      cudaStream_t stream) {
  const ActingOnLeaves m2p(tree, tree.lists.hybrid.m2p), p2p(tree, tree.lists.hybrid.p2p);
  std::vector<std::int32_t> boxes, sources;
  std::vector<std::int64_t> begin{0};
  for (std::size_t b = 0; b < tree.octree.boxes.size(); ++b) {
    const auto row = tree.lists.hybrid.p2l[static_cast<std::int32_t>(b)];
    if (row.empty()) continue;
    for (const std::int32_t box : row) {
      const fmm::Range range = tree.octree.boxes[box].sources;
      for (std::int32_t k = range.begin; k < range.end; ++k) sources.push_back(k);
    }
    boxes.push_back(static_cast<std::int32_t>(b));
    begin.push_back(static_cast<std::int64_t>(sources.size()));
  }
  fmm::PlanInfo counts{};
  fmm::count_hybrid(tree, counts);
  HybridDeviceLists lists{.m2p = m2p.on_device(stream),
                          .p2p = p2p.on_device(stream),
                          .p2l_boxes = to_device(boxes, stream),
                          .p2l_sources = to_device(sources, stream),
                          .p2l_begin = to_device(begin, stream),
                          .displaced = displaced_device_lists(tree, levels, stream),
                          .m2p_pairs = counts.m2p_pairs,
                          .p2l_pairs = counts.p2l_pairs,
                          .p2p_pairs = counts.near_pairs,
                          .m2l_pairs = counts.m2l_pairs};
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return lists;
}

std::vector<Vec3d> to_host(const DevicePoints& points, cudaStream_t stream) {
  std::vector<Vec3d> copy(points.size);
  FMBEM_CUDA(cudaMemcpyAsync(copy.data(), points.data, points.size * sizeof(Vec3d),
                             cudaMemcpyDeviceToHost, stream));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return copy;
}

}  // namespace

fmm::NearReach near_reach(Precision near_precision) {
  // Eighths of a side up to 127 (NearEntry); in double precision all coordinates are the root's.
  if (near_precision == Precision::single_precision) return {2, 31};
  return {fmm::deepest_tree_level, std::numeric_limits<std::int64_t>::max()};
}

PlanTree hybrid_plan_tree(const fmm::PointTree& host, int most, bool third_law,
                          fmm::DisplacedLevels levels, cudaStream_t stream) {
  PlanTree plan;
  plan.scale = host.scale;
  plan.same = host.sources_are_targets;
  plan.tree = device_tree(host.octree, plan.same, stream);
  const auto places = to_device(host.lists.hybrid.m2l_places, stream);
  plan.far = make_far_lists(plan.tree, stream, true, places.data());
  if (places.size() == 0) plan.far.m2l.sources = {};  // M2L is by displacements
  plan.near = near_lists_of(plan.tree, plan.far.target_leaves,
                            device_near_rows(host, third_law, stream), most, stream);
  plan.hybrid = device_hybrid_lists(host, levels, stream);
  plan.near.pairs += plan.hybrid->p2p_pairs;
  return plan;
}

FmmPlan::Impl::Grown FmmPlan::Impl::grow_hybrid_tree(const PointsToPlan& points, const Cube& root,
                                                     const StageDone& stage_done) {
  fmm::PointTree host{.scale = points.scale, .sources_are_targets = points.same()};
  const auto sorted = [&](const DevicePoints& some) {
    const std::vector<Vec3d> copy = to_host(some, stream);
    return by_histogram() ? fmm::sort_by_histogram(copy, points.scale, root)
                          : fmm::sort_points(copy, points.scale, root);
  };
  host.sources = sorted(points.sources);
  if (!points.same()) host.other_targets = sorted(points.targets);
  stage_done("sort");
  host.octree = fmm::build_octree(root, host.sources, host.targets(), choice.max_leaf);
  raise_order_on(host.octree.levels(), root, points);
  stage_done("tree");
  fmm::make_hybrid_lists(host, theta(), hybrid_costs(), near_reach(arithmetic.near),
                         kernel(points.scale).reach);
  weigh_third_law(fmm::near_pairs(host.octree, host.lists.p2p),
                  warps_of_p2p(host, targets_of_a_warp()));

  Grown grown;
  grown.points = {points.sources, points.targets, to_device(host.sources.order, stream),
                  to_device(host.other_targets.order, stream)};
  grown.tree = hybrid_plan_tree(
      host, targets_of_a_warp(), third_law,
      options.kappa == 0 ? fmm::DisplacedLevels::together : fmm::DisplacedLevels::apart, stream);
  stage_done("lists");
  return grown;
}

}  // namespace fmbem::cuda
