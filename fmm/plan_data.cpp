#include "fmbem/fmm/plan_data.hpp"

namespace fmbem::fmm {

void list_boxes(PlanData& data) {
  data.parents.assign(data.tree.levels(), {});
  data.source_leaves.clear();
  for (std::size_t b = 0; b < data.tree.boxes.size(); ++b) {
    const Box& box = data.tree.boxes[b];
    if (!box.is_leaf)
      data.parents[box.level].push_back(static_cast<std::int32_t>(b));
    else if (box.sources.size() > 0)
      data.source_leaves.push_back(static_cast<std::int32_t>(b));
  }
}

}  // namespace fmbem::fmm
