#include "fmbem/fmm/tree/merge_leaves.hpp"

#include <algorithm>
#include <utility>

namespace fmbem::fmm {
namespace {

/// Points of a box that count for its split.
std::int64_t points_of(const Box& box) {
  return std::max(box.targets.size(), box.sources.size() - box.held);
}

/// Whether a child of the box stays split.
bool has_lasting_child(const Box& box, const std::vector<char>& lasts) {
  return std::any_of(box.child.begin(), box.child.end(),
                     [&](std::int32_t c) { return c >= 0 && lasts[c]; });
}

/// Which boxes stay split.
std::vector<char> lasting_splits(const Octree& tree, int max_leaf) {
  std::vector<char> lasts(tree.boxes.size());
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
  const std::vector<char> lasts = lasting_splits(tree, max_leaf);
  const auto n = static_cast<std::int32_t>(tree.boxes.size());
  std::vector<std::int32_t> place(n);  // of each box that is left; −1 for others
  std::int32_t left = 0;
  std::vector<std::int32_t> level_begin;
  for (std::int32_t b = 0; b < n; ++b) {
    const Box& box = tree.boxes[b];
    const bool is_left = box.parent < 0 || lasts[box.parent];
    place[b] = is_left ? left : -1;
    if (!is_left) continue;
    if (box.level == static_cast<int>(level_begin.size())) level_begin.push_back(left);
    ++left;
  }
  if (left == n) return;
  level_begin.push_back(left);
  const auto now = [&](std::int32_t b) { return b < 0 ? -1 : place[b]; };
  for (std::int32_t b = 0; b < n; ++b) {  // none moves beyond one that is still to be read
    if (place[b] < 0) continue;
    Box box = tree.boxes[b];
    auto colleagues = tree.colleagues[b];
    box.is_leaf = !lasts[b];
    box.parent = now(box.parent);
    for (std::int32_t& child : box.child) child = now(child);
    for (std::int32_t& colleague : colleagues) colleague = now(colleague);
    tree.boxes[place[b]] = box;
    tree.colleagues[place[b]] = colleagues;
  }
  tree.boxes.resize(left);
  tree.colleagues.resize(left);
  tree.level_begin = std::move(level_begin);
}

}  // namespace fmbem::fmm
