#include "fmbem/fmm/lists/interaction_lists.hpp"

namespace fmbem::fmm {

InteractionLists interaction_lists(const Octree& tree, const SortedPoints& sources,
                                   const SortedPoints& targets) {
  InteractionLists lists{.p2p = near_lists(tree, sources, targets), .m2l = {}, .source_boxes = {}};
  lists.m2l.resize(tree.levels());
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const Box& box = tree.boxes[b];
    if (!box.is_leaf) lists.m2l[box.level].push_back(static_cast<std::int32_t>(b));
    if (box.own_sources().size() > 0) lists.source_boxes.push_back(static_cast<std::int32_t>(b));
  }
  return lists;
}

}  // namespace fmbem::fmm
