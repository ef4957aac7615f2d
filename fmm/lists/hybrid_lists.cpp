#include "fmbem/fmm/lists/hybrid_lists.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/lists/dual_traversal.hpp"
#include "fmbem/fmm/tree/prune.hpp"

namespace fmbem::fmm {
namespace {

/// Makes leaves of all boxes below which nothing interacts but point by point, takes away what is
/// below them, and gives the pairs the numbers of the boxes that stay.
void prune(Octree& tree, FoundPairs& found) {
  const LargeVector<std::int32_t> place = prune_octree(tree, split_boxes(tree, found));
  for (BoxPairs* pairs : {&found.p2p, &found.split, &found.m2l, &found.m2p, &found.p2l}) {
#pragma omp parallel for schedule(static)
    for (BoxPair& pair : *pairs) pair = {place[pair.a], place[pair.b]};
  }
}

BoxRows rows_of(const BoxPairs& pairs, std::size_t boxes) {
  BoxRows rows;
  if (pairs.empty()) return rows;
  const auto count = static_cast<std::int64_t>(pairs.size());
  FMBEM_REQUIRE(count <= std::numeric_limits<std::int32_t>::max(),
                "the lists of a hybrid have at most 2^31 pairs of boxes, not "
                    << count << ": take a larger theta, or the FMM");
  const GroupOrder by_box = sort_by_group(count, static_cast<std::int64_t>(boxes),
                                          [&](std::int64_t k) { return pairs[k].a; });
  rows.begin.assign(by_box.begin.begin(), by_box.begin.end());
  rows.sources.resize(pairs.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < count; ++k) rows.sources[k] = pairs[by_box.number[k]].b;
  return rows;
}

/// Calls body(leaf) for all leaves of a box.
template <class Body>
void for_leaves(const Octree& tree, std::int32_t box, Body&& body) {
  if (tree.boxes[box].is_leaf) return body(box);
  for (const std::int32_t child : tree.boxes[box].child)
    if (child >= 0) for_leaves(tree, child, body);
}

/// Pairs of leaves, those in reach of near lists and the others.
template <class Pairs>
struct LeafPairs {
  Pairs near, far;
};

/// The pairs of leaves, both ways, in which there are sources and targets that count.
LeafPairs<BoxPairs> leaf_pairs(const Octree& tree, const BoxPairs& p2p, const NearReach& reach,
                               double kernel_reach) {
  constexpr std::int64_t worth_a_thread = 1024;
  const Chunks chunks = Chunks::of_size(worth_a_thread, static_cast<std::int64_t>(p2p.size()));
  using Found = LeafPairs<std::vector<BoxPair>>;
  std::vector<Found> of_chunk(chunks.count());
  chunks.for_each([&](std::int64_t chunk, std::int64_t first, std::int64_t last) {
    Found found;
    const auto add = [&](std::int32_t x, std::int32_t y, bool in_reach) {
      if (tree.boxes[x].targets.size() > 0 && tree.boxes[y].sources.size() > 0)
        (in_reach ? found.near : found.far).push_back({x, y});
    };
    for (std::int64_t k = first; k < last; ++k) {
      const auto [a, b] = p2p[k];
      for_leaves(tree, a, [&, a = a, b = b](std::int32_t x) {
        for_leaves(tree, b, [&](std::int32_t y) {
          if (a == b && y < x) return;
          if (are_beyond(tree, tree.boxes[x], tree.boxes[y], kernel_reach)) return;
          const bool in_reach = reach(tree.boxes[x], tree.boxes[y]);
          add(x, y, in_reach);
          if (x != y) add(y, x, in_reach);
        });
      });
    }
    of_chunk[chunk] = std::move(found);
  });
  return {joined(
              of_chunk, [](const Found& found) -> const auto& { return found.near; }),
          joined(
              of_chunk, [](const Found& found) -> const auto& { return found.far; })};
}

/// Rows of the boxes that have any.
NearLists near_lists_of(const Octree& tree, BoxRows rows) {
  NearLists lists{.targets = leaves_with_targets(tree), .begin = {0}, .sources = {}};
  for (const std::int32_t leaf : lists.targets)
    lists.begin.push_back(rows.begin.empty() ? 0 : rows.begin[leaf + 1]);
  lists.sources = std::move(rows.sources);
  return lists;
}

}  // namespace

bool NearReach::operator()(const Box& a, const Box& b) const {
  const int apart = std::abs(a.level - b.level), finer = std::max(a.level, b.level);
  if (apart > levels) return false;
  for (int axis = 0; axis < 3; ++axis) {
    const auto centre = [&](const Box& box) {
      return (2 * std::int64_t{box.cell[axis]} + 1) << (finer - box.level);
    };
    if (std::abs(centre(a) - centre(b)) + (std::int64_t{1} << apart) > halves) return false;
  }
  return true;
}

void make_hybrid_lists(PointTree& tree, double theta, const HybridCosts& costs,
                       const NearReach& reach, double kernel_reach) {
  FoundPairs found = traverse_pairs(tree, theta, kernel_reach, costs);
  Octree& octree = tree.octree;
  prune(octree, found);
  const std::size_t boxes = octree.boxes.size();
  InteractionLists& lists = tree.lists;
  lists = InteractionLists();
  lists.m2l = parents_by_level(octree);
  lists.source_boxes = boxes_with_sources(octree);
  HybridLists& hybrid = lists.hybrid;
  if (theta >= theta_of_blocks) hybrid.m2l_places = places_of_splits(octree, found.split);
  hybrid.m2l = rows_of(found.m2l, boxes);
  hybrid.m2p = rows_of(found.m2p, boxes);
  hybrid.p2l = rows_of(found.p2l, boxes);
  const LeafPairs<BoxPairs> pairs = leaf_pairs(octree, found.p2p, reach, kernel_reach);
  hybrid.p2p = rows_of(pairs.far, boxes);
  lists.p2p = near_lists_of(octree, rows_of(pairs.near, boxes));
}

}  // namespace fmbem::fmm
