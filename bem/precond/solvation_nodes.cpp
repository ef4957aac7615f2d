#include "fmbem/bem/precond/solvation_nodes.hpp"

#include <cstdint>

namespace fmbem {

ClusterTree solvation_trees(const Panels& panels, std::span<const Triangle> triangles,
                            const RegionsOfPanels& regions, int max_leaf) {
  const std::size_t n = panels.size();
  const PanelSurfaces sorted(regions.inside, regions.outside);
  TreePlaces places{{sorted.panel.begin(), sorted.panel.end()}, sorted.begin, {}, {}, {}};
  places.key.reserve(n);
  for (const std::int32_t i : places.panel) places.key.push_back(panels.key[i]);
  places.part.assign(n, -1);
  places.part_key.assign(n, 0);
  return {places, triangles, max_leaf};
}

std::vector<NodeSides> sides_of_nodes(const ClusterTree& tree, std::span<const Triangle> triangles,
                                      const RegionsOfPanels& regions) {
  std::vector<NodeSides> result(tree.nodes.size());
  tree.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree.nodes[k];
    const std::int32_t first = tree.panel(node.begin);
    result[k] = node.is_panel() ? NodeSides{triangles[first].normal, 0, regions.inside[first],
                                            regions.outside[first]}
                                : sides_of_halves(tree.nodes[node.left], result[node.left],
                                                  tree.nodes[node.right], result[node.right]);
  });
  return result;
}

}  // namespace fmbem
