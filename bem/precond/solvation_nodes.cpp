#include "fmbem/bem/precond/solvation_nodes.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace fmbem {

ClusterTree solvation_trees(const Panels& panels, std::span<const Triangle> triangles,
                            const RegionsOfPanels& regions) {
  const std::size_t n = panels.size();
  TreePlaces places;
  places.panel.resize(n);
  std::iota(places.panel.begin(), places.panel.end(), 0);
  const auto sides = [&](std::int32_t i) {
    return std::pair(regions.inside[i], regions.outside[i]);
  };
  std::stable_sort(places.panel.begin(), places.panel.end(),
                   [&](std::int32_t i, std::int32_t j) { return sides(i) < sides(j); });
  places.key.reserve(n);
  for (std::size_t k = 0; k < n; ++k) {
    places.key.push_back(panels.key[places.panel[k]]);
    if (k == 0 || sides(places.panel[k]) != sides(places.panel[k - 1]))
      places.tree_begin.push_back(static_cast<std::int32_t>(k));
  }
  places.tree_begin.push_back(static_cast<std::int32_t>(n));
  places.part.assign(n, -1);
  places.part_key.assign(n, 0);
  return {places, triangles, solvation_cuts.max_leaf};
}

std::vector<NodeSides> sides_of_nodes(const ClusterTree& tree, std::span<const Triangle> triangles,
                                      const RegionsOfPanels& regions) {
  std::vector<NodeSides> result(tree.nodes.size());
  tree.for_children_first([&](std::int32_t k) {
    const Cluster& node = tree.nodes[k];
    const std::int32_t first = tree.panel(node.begin);
    result[k] = {{}, 0, regions.inside[first], regions.outside[first]};
    if (node.is_panel()) {
      result[k].normal = triangles[first].normal;
      return;
    }
    const Cluster &l = tree.nodes[node.left], &r = tree.nodes[node.right];
    const NodeSides &of_l = result[node.left], &of_r = result[node.right];
    const double left = l.area / node.area, right = 1 - left;
    result[k].normal = left * of_l.normal + right * of_r.normal;
    const double apart = smeared_distance(l, r);
    result[k].own_k = left * (of_l.own_k + smooth_k(l, r, of_r.normal, apart)) +
                      right * (of_r.own_k + smooth_k(r, l, of_l.normal, apart));
  });
  return result;
}

}  // namespace fmbem
