#include "fmbem/fmm/plan_info.hpp"

#include <algorithm>
#include <bit>

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/lists/m2l_rows.hpp"

namespace fmbem::fmm {

std::int64_t bytes_of_a_number(const Accuracy& accuracy) {
  return accuracy.precision == Precision::single_precision ? sizeof(float) : sizeof(double);
}

std::int64_t kept_moment_bytes(const PointTree& tree, const Accuracy& accuracy, Moments moments) {
  if (moments == Moments::afresh || tree.octree.levels() <= 2) return 0;
  const std::int64_t number =
      moments == Moments::kept ? bytes_of_a_number(accuracy) : static_cast<int>(sizeof(float));
  return static_cast<std::int64_t>(tree.sources.size()) * harmonic_count(accuracy.order) * number;
}

std::int64_t m2l_bytes(const PointTree& tree, const Accuracy& accuracy) {
  const Octree& octree = tree.octree;
  const M2lOrders orders = m2l_orders(tree.sources_are_targets);
  const auto bytes_of = [&](std::uint32_t some) {
    std::int64_t numbers = 0;
    for (const int orbit : all_m2l_orbits()) {
      const std::int64_t count = harmonic_count(m2l_order(accuracy.order, orders, orbit));
      if ((some >> orbit & 1) != 0) numbers += 8 * count * count;
    }
    return numbers * bytes_of_a_number(accuracy);
  };
  if (accuracy.kappa == 0) return octree.levels() > 2 ? bytes_of(all_but_siblings) : 0;
  const double reach = kernel_reach(accuracy.kappa, accuracy.reach, tree.scale);
  std::int64_t bytes = 0;
  for (int level = 2; level < octree.levels(); ++level)
    bytes += bytes_of(acting_orbits(tree, accuracy.method, level, reach));
  return bytes;
}

PlanInfo plan_info(const PointTree& tree, const Accuracy& accuracy, std::int64_t moment_bytes,
                   std::int64_t operator_bytes) {
  const Octree& octree = tree.octree;
  const NearLists& near = tree.lists.p2p;
  const auto boxes = static_cast<std::int64_t>(octree.boxes.size());
  const auto leaves = std::count_if(octree.boxes.begin(), octree.boxes.end(),
                                    [](const Box& box) { return box.is_leaf; });
  const auto points = static_cast<std::int64_t>(tree.sources.size() + tree.other_targets.size());
  // Bytes of an entry of the lists: a number and, where the CPU sums each pair of leaves once, 16
  // bytes for each pair of entries.
  const std::int64_t near_entry_bytes = tree.sources_are_targets ? 4 + 8 : 4;
  const std::int64_t bytes =
      boxes * static_cast<std::int64_t>(sizeof(Box) + sizeof(octree.colleagues[0])) + points * 36 +
      static_cast<std::int64_t>(near.sources.size()) * near_entry_bytes +
      2 * boxes * harmonic_count(accuracy.order) * bytes_of_a_number(accuracy) + moment_bytes;
  return {accuracy.order,   accuracy.precision,
          octree.levels(),  tree.max_leaf,
          tree.inflation,   boxes,
          leaves,           near_pairs(octree, near),
          m2l_rows(octree), bytes,
          operator_bytes};
}

void count_hybrid(const PointTree& tree, PlanInfo& info) {
  const auto& boxes = tree.octree.boxes;
  const HybridLists& lists = tree.lists.hybrid;
  const std::vector<std::uint8_t> occupied = occupied_octants(tree.octree);
  info.m2l_rows = 0;
  info.m2l_pairs = static_cast<std::int64_t>(lists.m2l.sources.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) {
    const auto b = static_cast<std::int32_t>(k);
    const std::int64_t targets = boxes[k].targets.size();
    for (const std::int32_t source : lists.p2p[b])
      info.near_pairs += targets * boxes[source].sources.size();
    for (const std::int32_t source : lists.p2l[b]) info.p2l_pairs += boxes[source].sources.size();
    info.m2p_pairs += targets * static_cast<std::int64_t>(lists.m2p[b].size());
    if (lists.m2l_places.empty() || targets == 0) continue;
    std::uint32_t rows = 0;
    for (int place = 0; place < 27; ++place)
      if (lists.m2l_places[k] >> place & 1)
        rows |= orbits_at(place, occupied[tree.octree.colleagues[k][place]]);
    info.m2l_rows += std::popcount(rows);
  }
}

}  // namespace fmbem::fmm
