#include "fmbem/fmm/tree/merge_leaves.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/tree/prune.hpp"

namespace fmbem::fmm {
namespace {

/// Points of a box that count for its split.
std::int64_t points_of(const Box& box) {
  return std::max(box.targets.size(), box.sources.size() - box.held);
}

/// Whether a child of the box stays split.
bool has_lasting_child(const Box& box, const std::vector<std::uint8_t>& lasts) {
  return std::any_of(box.child.begin(), box.child.end(),
                     [&](std::int32_t c) { return c >= 0 && lasts[c]; });
}

/// Which boxes stay split.
std::vector<std::uint8_t> lasting_splits(const Octree& tree, int max_leaf) {
  std::vector<std::uint8_t> lasts(tree.boxes.size());
  for (auto b = static_cast<std::int32_t>(tree.boxes.size()) - 1; b >= 0; --b) {
    const Box& box = tree.boxes[b];
    if (box.is_leaf) continue;
    const bool asks = crowd_about(tree, b) > max_leaf || has_lasting_child(box, lasts);
    if (!asks) continue;
    lasts[b] = 1;
    if (box.parent < 0) continue;
    for (const std::int32_t c : tree.colleagues[box.parent])
      if (c >= 0) lasts[c] = 1;  // the grading
  }
  return lasts;
}

}  // namespace

int crowd_about(const Octree& tree, std::int32_t box) {
  std::int64_t points = 0, colleagues = 0;
  for (const std::int32_t c : tree.colleagues[box]) {
    if (c < 0) continue;
    points += points_of(tree.boxes[c]);
    ++colleagues;
  }
  return static_cast<int>(
      std::min(points_of(tree.boxes[box]), (points + colleagues - 1) / colleagues));
}

void merge_leaves(Octree& tree, int max_leaf) {
  prune_octree(tree, lasting_splits(tree, max_leaf));
}

}  // namespace fmbem::fmm
