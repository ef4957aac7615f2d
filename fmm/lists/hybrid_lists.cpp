#include "fmbem/fmm/lists/hybrid_lists.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "fmbem/fmm/lists/dual_traversal.hpp"

namespace fmbem::fmm {
namespace {

using Pairs = std::vector<BoxPair>;

/// Makes leaves of all boxes below which nothing interacts but point by point, takes away what is
/// below them, and gives the pairs the numbers of the boxes that stay.
void prune(Octree& tree, FoundPairs& found) {
  const std::vector<std::uint8_t> is_split = split_boxes(tree, found);
  std::vector<std::int32_t> place(tree.boxes.size(), -1);
  std::int32_t kept = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    if (b == 0 || is_split[tree.boxes[b].parent]) place[b] = kept++;
  const auto move = [&](std::int32_t& box) {
    if (box >= 0) box = place[box];
  };
  std::vector<std::int32_t> level_begin{0};
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    if (place[b] < 0) continue;
    Box& box = tree.boxes[place[b]] = tree.boxes[b];
    auto& colleagues = tree.colleagues[place[b]] = tree.colleagues[b];
    move(box.parent);
    for (std::int32_t& child : box.child) move(child);
    for (std::int32_t& colleague : colleagues) move(colleague);
    box.is_leaf = !is_split[b];
    level_begin.resize(box.level + 2);
    level_begin.back() = place[b] + 1;
  }
  tree.boxes.resize(kept);
  tree.colleagues.resize(kept);
  tree.level_begin = std::move(level_begin);
  for (Pairs* pairs : {&found.p2p, &found.split, &found.m2l, &found.m2p, &found.p2l})
    for (auto& [a, b] : *pairs) {
      move(a);
      move(b);
    }
}

BoxRows rows_of(const Pairs& pairs, std::size_t boxes) {
  BoxRows rows;
  if (pairs.empty()) return rows;
  rows.begin.assign(boxes + 1, 0);
  for (const BoxPair& pair : pairs) ++rows.begin[pair.a + 1];
  std::partial_sum(rows.begin.begin(), rows.begin.end(), rows.begin.begin());
  std::vector<std::int64_t> next(rows.begin.begin(), rows.begin.end() - 1);
  rows.sources.resize(pairs.size());
  for (const BoxPair& pair : pairs) rows.sources[next[pair.a]++] = pair.b;
  return rows;
}

/// Calls body(leaf) for all leaves of a box.
template <class Body>
void for_leaves(const Octree& tree, std::int32_t box, Body&& body) {
  if (tree.boxes[box].is_leaf) return body(box);
  for (const std::int32_t child : tree.boxes[box].child)
    if (child >= 0) for_leaves(tree, child, body);
}

/// The pairs of leaves, both ways, in which there are sources and targets: those in reach, and the
/// others.
std::pair<Pairs, Pairs> leaf_pairs(const Octree& tree, const Pairs& p2p, const NearReach& reach) {
  std::pair<Pairs, Pairs> result;
  const auto add = [&](std::int32_t x, std::int32_t y, bool in_reach) {
    if (tree.boxes[x].targets.size() > 0 && tree.boxes[y].sources.size() > 0)
      (in_reach ? result.first : result.second).push_back({x, y});
  };
  for (const BoxPair& pair : p2p)
    for_leaves(tree, pair.a, [&](std::int32_t x) {
      for_leaves(tree, pair.b, [&](std::int32_t y) {
        if (pair.a == pair.b && y < x) return;
        const bool in_reach = reach(tree.boxes[x], tree.boxes[y]);
        add(x, y, in_reach);
        if (x != y) add(y, x, in_reach);
      });
    });
  return result;
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
                       const NearReach& reach) {
  FoundPairs found = traverse_pairs(tree, theta, costs);
  Octree& octree = tree.octree;
  prune(octree, found);
  const std::size_t boxes = octree.boxes.size();
  InteractionLists& lists = tree.lists;
  lists = InteractionLists();
  lists.m2l = parents_by_level(octree);
  HybridLists& hybrid = lists.hybrid;
  if (theta >= theta_of_blocks) hybrid.m2l_places.assign(boxes, 0);
  for (const auto [a, b] : found.split) {
    hybrid.m2l_places[a] |= 1u << place_of(octree, a, b);
    hybrid.m2l_places[b] |= 1u << place_of(octree, b, a);
  }
  hybrid.m2l = rows_of(found.m2l, boxes);
  hybrid.m2p = rows_of(found.m2p, boxes);
  hybrid.p2l = rows_of(found.p2l, boxes);
  const auto [near, far] = leaf_pairs(octree, found.p2p, reach);
  hybrid.p2p = rows_of(far, boxes);
  const BoxRows near_rows = rows_of(near, boxes);
  lists.p2p.begin.push_back(0);
  for (std::size_t b = 0; b < boxes; ++b) {
    const Box& box = octree.boxes[b];
    if (!box.is_leaf) continue;
    const auto leaf = static_cast<std::int32_t>(b);
    if (box.sources.size() > 0) lists.source_boxes.push_back(leaf);
    if (box.targets.size() == 0) continue;
    lists.p2p.targets.push_back(leaf);
    const auto row = near_rows[leaf];
    lists.p2p.sources.insert(lists.p2p.sources.end(), row.begin(), row.end());
    lists.p2p.begin.push_back(static_cast<std::int64_t>(lists.p2p.sources.size()));
  }
}

}  // namespace fmbem::fmm
