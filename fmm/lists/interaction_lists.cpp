#include "fmbem/fmm/lists/interaction_lists.hpp"

#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem::fmm {

std::vector<std::vector<std::int32_t>> parents_by_level(const Octree& tree) {
  std::vector<std::vector<std::int32_t>> parents(tree.levels());
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    if (!tree.boxes[b].is_leaf)
      parents[tree.boxes[b].level].push_back(static_cast<std::int32_t>(b));
  return parents;
}

std::vector<std::int32_t> boxes_with_sources(const Octree& tree) {
  return numbers_where(static_cast<std::int64_t>(tree.boxes.size()),
                       [&](std::int64_t b) { return tree.boxes[b].own_sources().size() > 0; });
}

InteractionLists interaction_lists(const Octree& tree, const SortedPoints& sources,
                                   const SortedPoints& targets, double reach) {
  return {.p2p = near_lists(tree, sources, targets, reach),
          .m2l = parents_by_level(tree),
          .source_boxes = boxes_with_sources(tree),
          .hybrid = {}};
}

}  // namespace fmbem::fmm
