#include "fmbem/fmm/lists/near_lists.hpp"

#include <numeric>

#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem::fmm {

bool is_one_place(const Octree& tree, const Box& box, const SortedPoints& sources,
                  const SortedPoints& targets) {
  if (box.level < tree.deepest || box.sources.size() == 0 || box.targets.size() == 0 ||
      !sources.deepest.empty())
    return false;
  const std::int32_t first = box.sources.begin;
  const auto agrees = [&](const SortedPoints& points, Range range) {
    for (std::int32_t i = range.begin; i < range.end; ++i)
      if (points.x[i] != sources.x[first] || points.y[i] != sources.y[first] ||
          points.z[i] != sources.z[first])
        return false;
    return true;
  };
  return agrees(sources, box.sources) && agrees(targets, box.targets);
}

namespace {

/// Adds the boxes whose own sources are near to a leaf.
void add_near(const Octree& tree, const SortedPoints& sources, const SortedPoints& targets,
              double reach, std::int32_t leaf, std::vector<std::int32_t>& found) {
  const Box& box = tree.boxes[leaf];
  const auto add = [&](std::int32_t b) {
    if (b >= 0 && tree.boxes[b].own_sources().size() > 0 &&
        !are_beyond(tree, box, tree.boxes[b], reach))
      found.push_back(b);
  };
  for (const std::int32_t c : tree.colleagues[leaf]) {
    if (c < 0 || (c == leaf && is_one_place(tree, box, sources, targets))) continue;
    add(c);
    if (tree.boxes[c].is_leaf) continue;
    for (const std::int32_t child : tree.boxes[c].child) {
      add(child);
      if (child < 0 || tree.boxes[child].is_leaf) continue;
      for (const std::int32_t grandchild : tree.boxes[child].child) add(grandchild);
    }
  }
  std::int32_t above = box.parent;
  for (int up = 0; up < 2 && above >= 0; ++up, above = tree.boxes[above].parent)
    for (const std::int32_t c : tree.colleagues[above])
      if (c >= 0 && tree.boxes[c].is_leaf) add(c);
  const std::int32_t holder = sources.deepest.empty() ? -1 : box.parent;
  for (std::int32_t a = holder; a >= 0; a = tree.boxes[a].parent)
    for (const std::int32_t c : tree.colleagues[a])
      if (c >= 0 && !tree.boxes[c].is_leaf) add(c);
}

}  // namespace

std::vector<std::int32_t> leaves_with_targets(const Octree& tree) {
  return numbers_where(static_cast<std::int64_t>(tree.boxes.size()), [&](std::int64_t b) {
    return tree.boxes[b].is_leaf && tree.boxes[b].targets.size() > 0;
  });
}

NearLists near_lists(const Octree& tree, const SortedPoints& sources, const SortedPoints& targets,
                     double reach) {
  NearLists lists{.targets = leaves_with_targets(tree), .begin = {}, .sources = {}};
  const auto rows = static_cast<std::int64_t>(lists.targets.size());
  lists.begin.resize(rows + 1);
  constexpr std::int64_t worth_a_thread = 512;
  lists.sources = found_in_chunks<std::int32_t>(
      Chunks::of_size(worth_a_thread, rows),
      [&](std::int64_t first, std::int64_t last, std::vector<std::int32_t>& found) {
        for (std::int64_t row = first; row < last; ++row) {
          const std::size_t before = found.size();
          add_near(tree, sources, targets, reach, lists.targets[row], found);
          lists.begin[row + 1] = static_cast<std::int64_t>(found.size() - before);
        }
      });
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  return lists;
}

std::int64_t near_sources(const Octree& tree, const NearLists& lists, std::size_t row) {
  std::int64_t sources = 0;
  for (std::int64_t k = lists.begin[row]; k < lists.begin[row + 1]; ++k)
    sources += tree.boxes[lists.sources[k]].own_sources().size();
  return sources;
}

std::int64_t near_pairs(const Octree& tree, const NearLists& lists) {
  std::int64_t pairs = 0;
  for (std::size_t row = 0; row < lists.targets.size(); ++row)
    pairs += near_sources(tree, lists, row) * tree.boxes[lists.targets[row]].targets.size();
  return pairs;
}

}  // namespace fmbem::fmm
