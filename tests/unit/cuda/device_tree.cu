#include <algorithm>

#include "fmbem/cuda/histogram_tree.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/merge_leaves.cuh"
#include "fmbem/cuda/tree.cuh"
#include "fmbem/cuda/trial_trees.cuh"
#include "tests/unit/cuda/device_tree.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {
namespace {

using namespace cuda;

fmm::Octree octree_of(const DeviceTree& tree, bool same, cudaStream_t stream) {
  const auto code = to_host(tree.code, stream), upper = to_host(tree.upper_code, stream);
  const auto split_of = to_host(tree.split_of, stream), parent = to_host(tree.parent, stream),
             box_of = to_host(tree.box_of, stream), child = to_host(tree.child, stream),
             colleague = to_host(tree.colleague, stream), held = to_host(tree.held, stream);
  const auto sources = to_host(tree.sources, stream);
  const auto targets = same ? sources : to_host(tree.other_targets, stream);
  fmm::Octree result;
  result.root = tree.root;
  result.level_begin = tree.box_begin;
  result.boxes.assign(code.size(), fmm::Box());
  result.colleagues.resize(code.size());
  for (std::size_t b = 0; b < code.size(); ++b) {
    fmm::Box& box = result.boxes[b];
    const fmm::TreeKey whole =
        static_cast<fmm::TreeKey>(upper.empty() ? 0 : upper[b]) << 64 | code[b];
    box.level = level_of(whole);
    box.cell = fmm::cell_of(key_in(whole, box.level));
    box.parent = parent[b] < 0 ? -1 : box_of[parent[b]];
    box.child.fill(-1);
    box.is_leaf = split_of[b] < 0;
    if (!box.is_leaf) std::copy_n(child.begin() + 8 * split_of[b], 8, box.child.begin());
    box.sources = {sources[b].x, sources[b].y};
    box.held = held.empty() ? 0 : held[b];
    box.targets = {targets[b].x, targets[b].y};
    // The device keeps colleagues of boxes that are split only.
    result.colleagues[b].fill(-1);
    if (!box.is_leaf)
      std::copy_n(colleague.begin() + 27 * split_of[b], 27, result.colleagues[b].begin());
  }
  return result;
}

}  // namespace

HostTree build_device_tree(const Cube& root, double scale, std::span<const Vec3d> sources,
                           std::span<const Vec3d> targets, int max_leaf,
                           std::span<const std::int8_t> deepest, fmm::Construction construction,
                           int levels, fmm::Leaves leaves) {
  const Stream stream;
  const bool same =
      deepest.empty() && sources.data() == targets.data() && sources.size() == targets.size();
  const auto y = to_device(sources, stream);
  const auto depths = to_device(deepest, stream);
  const auto x = same ? DeviceBuffer<Vec3d>() : to_device(targets, stream);
  SortedKeys source_keys = sort_points(y.data(), static_cast<std::int64_t>(y.size()), scale, root,
                                       depths.data(), stream);
  SortedKeys target_keys;
  if (!same)
    target_keys =
        sort_points(x.data(), static_cast<std::int64_t>(x.size()), scale, root, nullptr, stream);
  DeviceTree tree = build_tree(root, source_keys, same ? nullptr : &target_keys, max_leaf, stream);
  std::optional<HistogramTree> counted;
  if (construction == fmm::Construction::histogram) {
    const PointsToCount to{x.data(), static_cast<std::int64_t>(x.size())};
    counted = build_tree_by_histogram(root, scale, {y.data(), static_cast<std::int64_t>(y.size())},
                                      same ? nullptr : &to, max_leaf, 0, stream);
    if (counted) {
      source_keys.order = std::move(counted->sources.order);
      target_keys.order = std::move(counted->targets.order);
      tree = std::move(counted->tree);
    }
  }
  if (levels > deepest_level) {
    const auto sort = [&](const DeviceBuffer<Vec3d>& points) {
      return sort_points_deep(points.data(), static_cast<std::int64_t>(points.size()), scale, root,
                              stream);
    };
    DeepKeys from = sort(y), to;
    if (!same) to = sort(x);
    tree = build_tree(root, from, same ? nullptr : &to, max_leaf, stream);
    source_keys.order = std::move(from.order);
    target_keys.order = std::move(to.order);
  }
  if (leaves == fmm::Leaves::merged) merge_leaves(tree, max_leaf, stream);
  const FarLists far = make_far_lists(tree, stream);
  DeviceBuffer<std::uint8_t> one_place;
  const PlacesInOrder sources_in_order{y.data(), source_keys.order.data()};
  if (deepest.empty())
    one_place = find_one_places(
        tree, sources_in_order,
        same ? sources_in_order : PlacesInOrder{x.data(), target_keys.order.data()}, stream);
  const NearDeviceLists near =
      make_near_lists(tree, far.target_leaves, one_place, group_lanes, stream);

  HostTree result{octree_of(tree, same, stream),
                  {},
                  to_host(source_keys.order, stream),
                  to_host(target_keys.order, stream),
                  counted.has_value()};
  result.near.targets = to_host(far.target_leaves, stream);
  result.near.begin = to_host(near.begin, stream);
  // An entry says where its sources begin, which identifies the box.
  std::vector<std::int32_t> box_at(sources.size(), -1);
  for (std::size_t b = 0; b < result.tree.boxes.size(); ++b) {
    const fmm::Range own = result.tree.boxes[b].own_sources();
    if (own.size() > 0) box_at[own.begin] = static_cast<std::int32_t>(b);
  }
  for (const NearEntry& entry : to_host(near.entries, stream))
    result.near.sources.push_back(box_at[entry.begin]);
  return result;
}

std::vector<TrialCounts> count_device_trees(std::span<const Cube> roots, double scale,
                                            std::span<const Vec3d> points,
                                            std::span<const int> max_leaf, fmm::Leaves leaves) {
  const Stream stream;
  const auto x = to_device(points, stream);
  const auto n = static_cast<std::int64_t>(x.size());
  const SortedKeys keys = sort_points(x.data(), n, scale, roots.front(), nullptr, stream);
  std::vector<TrialCounts> result;
  for (const TreeCounts& c :
       count_trees(x.data(), keys.order.data(), n, 1, scale, roots, max_leaf, leaves, stream))
    result.push_back({c.pairs, c.sources, c.parents, c.leaves});
  return result;
}

}  // namespace fmbem::test
