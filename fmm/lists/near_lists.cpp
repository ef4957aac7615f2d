#include "fmbem/fmm/lists/near_lists.hpp"

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

NearLists near_lists(const Octree& tree, const SortedPoints& sources, const SortedPoints& targets) {
  NearLists lists;
  lists.begin.push_back(0);
  const auto add = [&](std::int32_t b) {
    if (b >= 0 && tree.boxes[b].own_sources().size() > 0) lists.sources.push_back(b);
  };
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const Box& box = tree.boxes[b];
    if (!box.is_leaf || box.targets.size() == 0) continue;
    lists.targets.push_back(static_cast<std::int32_t>(b));
    for (const std::int32_t c : tree.colleagues[b]) {
      if (c < 0 || (c == static_cast<std::int32_t>(b) && is_one_place(tree, box, sources, targets)))
        continue;
      if (tree.boxes[c].is_leaf) {
        add(c);
      } else {
        add(c);
        for (const std::int32_t child : tree.boxes[c].child) {
          add(child);
          if (child < 0 || tree.boxes[child].is_leaf) continue;
          for (const std::int32_t grandchild : tree.boxes[child].child) add(grandchild);
        }
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
    lists.begin.push_back(static_cast<std::int64_t>(lists.sources.size()));
  }
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
