#include "fmbem/bem/precond/cluster_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fmbem {
namespace {

/// From so many panels on, building both halves at the same time is worth waking another thread.
constexpr std::int32_t worth_a_task = 20'000;

/// The first panel of the right half of [begin, end).
std::int32_t cut(std::span<const std::uint64_t> keys, std::int32_t begin, std::int32_t end) {
  const std::uint64_t differ = keys[begin] ^ keys[end - 1];
  if (differ == 0) return begin + (end - begin) / 2;
  const int bit = 63 - std::countl_zero(differ);
  const std::uint64_t first = keys[end - 1] >> bit << bit;
  return static_cast<std::int32_t>(
      std::lower_bound(keys.begin() + begin, keys.begin() + end, first) - keys.begin());
}

/// The same of trees over places.
std::int32_t cut(const TreePlaces& places, std::int32_t begin, std::int32_t end) {
  const auto& part = places.part;
  if (part[begin] == part[end - 1]) return cut(places.key, begin, end);
  if (places.part_key[begin] != places.part_key[end - 1]) return cut(places.part_key, begin, end);
  // Parts about one centroid, as shells are, are cut between two of them, near the middle.
  const std::int32_t middle = begin + (end - begin) / 2;
  std::int32_t low = middle, high = middle;
  while (low > begin && part[low - 1] == part[middle]) --low;
  while (high < end && part[high] == part[middle]) ++high;
  return low == begin || (high < end && high - middle < middle - low) ? high : low;
}

template <class Keys>
void build(const Keys& keys, std::int32_t begin, std::int32_t end, std::int32_t at,
           std::vector<Cluster>& nodes) {
  Cluster& node = nodes[at];
  node.begin = begin;
  node.end = end;
  node.left = node.right = -1;
  if (end - begin == 1) return;
  const std::int32_t middle = cut(keys, begin, end);
  node.left = at + 1;
  node.right = at + 2 * (middle - begin);
#pragma omp task shared(keys, nodes) if (end - begin >= worth_a_task)
  build(keys, begin, middle, at + 1, nodes);
  build(keys, middle, end, at + 2 * (middle - begin), nodes);
#pragma omp taskwait
}

}  // namespace

ClusterTree::ClusterTree(std::span<const std::uint64_t> keys, std::span<const Triangle> panels,
                         int max_leaf)
    : nodes(2 * panels.size() - 1), n_(panels.size()) {
#pragma omp parallel
#pragma omp single
  build(keys, 0, static_cast<std::int32_t>(n_), 0, nodes);
  choose_leaves(max_leaf);
  measure(panels);
}

ClusterTree::ClusterTree(const TreePlaces& places, std::span<const Triangle> panels, int max_leaf)
    : nodes(2 * panels.size() - (places.tree_begin.size() - 1)), n_(panels.size()) {
#pragma omp parallel
#pragma omp single
  for (std::int32_t t = 0; t + 1 < static_cast<std::int32_t>(places.tree_begin.size()); ++t)
    build(places, places.tree_begin[t], places.tree_begin[t + 1], 2 * places.tree_begin[t] - t,
          nodes);
  panel_at_ = places.panel;
  choose_leaves(max_leaf);
  measure(panels);
}

void ClusterTree::choose_leaves(int max_leaf) {
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(nodes.size());) {
    if (nodes[k].size() <= max_leaf) {
      leaves.push_back(k);
      k = descendants_end(k);
    } else {
      above.push_back(k++);
    }
  }
  std::reverse(above.begin(), above.end());
}

void ClusterTree::measure(std::span<const Triangle> panels) {
  for_children_first([&](std::int32_t k) {
    Cluster& node = nodes[k];
    if (node.is_panel())
      measure_panel(panels[panel(node.begin)], node);
    else
      measure_halves(nodes[node.left], nodes[node.right], node);
  });
#pragma omp parallel for schedule(dynamic, 64)
  for (Cluster& node : nodes) {
    if (node.is_panel() || node.is_long()) continue;
    double radius2 = 0;
    for (std::int32_t i = node.begin; i < node.end; ++i)
      for (const Vec3d& vertex : panels[panel(i)].vertex)
        radius2 = std::max(radius2, norm2(vertex - node.centroid));
    node.radius = std::sqrt(radius2);
  }
}

}  // namespace fmbem
