#include "fmbem/fmm/lists/treecode_walk.hpp"

#include <algorithm>
#include <cmath>

namespace fmbem::fmm {

void walk_treecode(const Octree& tree, const Box& leaf, double theta, double reach,
                   TreecodeBoxes& boxes) {
  boxes.m2p.clear();
  boxes.p2p.clear();
  boxes.waiting.assign(1, 0);
  while (!boxes.waiting.empty()) {
    const std::int32_t index = boxes.waiting.back();
    const Box& box = tree.boxes[index];
    boxes.waiting.pop_back();
    if (box.sources.size() == 0 || are_beyond(tree, leaf, box, reach)) continue;
    if (has_expansions(tree, box.level, reach) && is_accepted(leaf, box, theta)) {
      boxes.m2p.push_back(index);
    } else if (box.is_leaf) {
      boxes.p2p.push_back(index);
    } else {
      // Backwards, so that boxes are found in Morton order.
      for (int octant = 7; octant >= 0; --octant)
        if (box.child[octant] >= 0) boxes.waiting.push_back(box.child[octant]);
    }
  }
}

TreecodeWork treecode_work(const Octree& tree, const std::vector<std::int32_t>& leaves,
                           double theta, double reach, std::size_t stride,
                           const TargetsOfWalk& targets) {
  const auto in_registers = [&](const Box& leaf, int lanes) {
    return lanes * std::ceil(targets.weight * leaf.targets.size() / lanes);
  };
  double m2p = 0, p2p = 0;
#pragma omp parallel reduction(+ : m2p, p2p)
  {
    TreecodeBoxes boxes;
#pragma omp for schedule(dynamic, 16)
    for (std::size_t k = 0; k < leaves.size(); k += stride) {
      const Box& leaf = tree.boxes[leaves[k]];
      walk_treecode(tree, leaf, theta, reach, boxes);
      m2p += static_cast<double>(boxes.m2p.size()) * in_registers(leaf, targets.lanes_of_m2p);
      for (const std::int32_t box : boxes.p2p)
        p2p += tree.boxes[box].sources.size() * in_registers(leaf, targets.lanes_of_p2p);
    }
  }
  return {static_cast<double>(stride) * m2p, static_cast<double>(stride) * p2p};
}

}  // namespace fmbem::fmm
