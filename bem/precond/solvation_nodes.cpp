#include "fmbem/bem/precond/solvation_nodes.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace fmbem {

PanelsBySides::PanelsBySides(const RegionsOfPanels& regions) : panel(regions.inside.size()) {
  const auto n = static_cast<std::int32_t>(panel.size());
  const auto sides = [&](std::int32_t i) {
    return std::pair(regions.inside[i], regions.outside[i]);
  };
  std::map<std::pair<int, int>, std::int32_t> count;
  for (std::int32_t i = 0, first = 0; first < n; first = i) {  // panels of one surface in a row
    while (i < n && sides(i) == sides(first)) ++i;
    count[sides(first)] += i - first;
  }
  std::map<std::pair<int, int>, std::int32_t> next;
  begin.push_back(0);
  for (const auto& [between, many] : count) {
    next[between] = begin.back();
    begin.push_back(begin.back() + many);
  }
  for (std::int32_t i = 0; i < n;) {
    std::int32_t& place = next[sides(i)];
    for (const auto between = sides(i); i < n && sides(i) == between; ++i) panel[place++] = i;
  }
}

ClusterTree solvation_trees(const Panels& panels, std::span<const Triangle> triangles,
                            const RegionsOfPanels& regions) {
  const std::size_t n = panels.size();
  PanelsBySides sorted(regions);
  TreePlaces places{std::move(sorted.panel), std::move(sorted.begin), {}, {}, {}};
  places.key.reserve(n);
  for (const std::int32_t i : places.panel) places.key.push_back(panels.key[i]);
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
    result[k] = node.is_panel() ? NodeSides{triangles[first].normal, 0, regions.inside[first],
                                            regions.outside[first]}
                                : sides_of_halves(tree.nodes[node.left], result[node.left],
                                                  tree.nodes[node.right], result[node.right]);
  });
  return result;
}

}  // namespace fmbem
