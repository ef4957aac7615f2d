#include <algorithm>

#include "fmbem/cuda/merge_leaves.cuh"
#include "fmbem/cuda/p2p_mutual.cuh"
#include "fmbem/cuda/placed_points.cuh"
#include "tests/unit/cuda/device_mutual.hpp"
#include "tests/unit/cuda/to_host.cuh"

namespace fmbem::test {

using namespace cuda;

HostMutualLists make_mutual_lists_on_device(const Cube& root, const std::vector<Vec3d>& points,
                                            int max_leaf, int most, fmm::Leaves leaves) {
  const Stream stream;
  const auto x = to_device(points, stream);
  const auto n = static_cast<std::int64_t>(points.size());
  PlanTree plan;
  PlacedPoints<float> placed;
  {
    SortedKeys keys = sort_points(x.data(), n, 1, root, nullptr, stream);
    plan.tree = build_tree<std::uint64_t>(root, keys, nullptr, max_leaf, stream);
    placed.order = std::move(keys.order);
  }
  if (leaves == fmm::Leaves::merged) merge_leaves(plan.tree, max_leaf, stream);
  plan.far = make_far_lists(plan.tree, stream);
  const PlacesInOrder in_order{x.data(), placed.order.data()};
  plan.near = make_near_lists(plan.tree, plan.far.target_leaves,
                              find_one_places(plan.tree, in_order, in_order, stream), most, stream);
  placed.make_room(stream);
  const LeavesView boxes = leaves_of(plan.tree, plan.far.source_boxes);
  place_points(PointsToPlace{x.data(), placed.order.data(), x.data(), placed.order.data(), 1, root,
                             boxes.tree, true, boxes.boxes, boxes.count},
               placed.arrays(), stream);
  MutualLists lists;
  list_earlier_sums(plan, n, most, lists, stream);
  find_close_targets(plan, placed.view(), lists, stream);

  HostMutualLists result;
  result.order = to_host(placed.order, stream);
  result.near_begin = to_host(plan.near.begin, stream);
  result.slots = plan.near.slots;
  const auto code = to_host(plan.tree.code, stream);
  const auto ranges = to_host(plan.tree.sources, stream);
  for (const std::int32_t leaf : to_host(plan.far.target_leaves, stream)) {
    result.leaves.push_back({ranges[leaf].x, ranges[leaf].y});
    result.level.push_back(level_of(code[leaf]));
  }
  result.items.assign(result.leaves.size(), 0);
  for (const NearItem& item : to_host(plan.near.items, stream)) ++result.items[item.row];
  for (const NearEntry& entry : to_host(plan.near.entries, stream))
    result.near.push_back({entry.begin, entry.count});
  for (const MutualRow& row : to_host(plan.near.mutual, stream))
    result.rows.push_back(
        {row.later_begin, row.slot_begin, row.earlier_begin, row.later, row.later_sources});
  for (const EarlierSums& sums : to_host(lists.earlier, stream))
    result.earlier.push_back({sums.slot, sums.doublings});
  for (const CloseTarget& target : to_host(lists.close, stream))
    result.close.push_back({target.target, target.row});
  result.close.resize(lists.n_close);
  std::sort(result.close.begin(), result.close.end());
  return result;
}

}  // namespace fmbem::test
