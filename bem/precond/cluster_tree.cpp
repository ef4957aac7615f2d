#include "fmbem/bem/precond/cluster_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fmbem {
namespace {

/// Panels from which building both halves at the same time is worth waking another thread.
constexpr std::int32_t worth_a_task = 20'000;

/// First panel of the right half of [begin, end).
std::int32_t cut(std::span<const std::uint64_t> keys, std::int32_t begin, std::int32_t end) {
  const std::uint64_t differ = keys[begin] ^ keys[end - 1];
  if (differ == 0) return begin + (end - begin) / 2;
  const int bit = 63 - std::countl_zero(differ);
  const std::uint64_t first = keys[end - 1] >> bit << bit;
  return static_cast<std::int32_t>(
      std::lower_bound(keys.begin() + begin, keys.begin() + end, first) - keys.begin());
}

void build(std::span<const std::uint64_t> keys, std::int32_t begin, std::int32_t end,
           std::int32_t at, std::vector<Cluster>& nodes) {
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

/// Area, centroid and smear, of a panel or from its two halves.
void measure(std::span<const Triangle> panels, std::vector<Cluster>& nodes, Cluster& node) {
  if (node.is_panel())
    measure_panel(panels[node.begin], node);
  else
    measure_halves(nodes[node.left], nodes[node.right], node);
}

double radius_of(std::span<const Triangle> panels, const Cluster& node) {
  double radius2 = 0;
  for (std::int32_t i = node.begin; i < node.end; ++i)
    for (const Vec3d& vertex : panels[i].vertex)
      radius2 = std::max(radius2, norm2(vertex - node.centroid));
  return std::sqrt(radius2);
}

}  // namespace

ClusterTree::ClusterTree(std::span<const std::uint64_t> keys, std::span<const Triangle> panels,
                         int max_leaf) {
  const auto n = static_cast<std::int32_t>(panels.size());
  nodes.resize(2 * static_cast<std::size_t>(n) - 1);
#pragma omp parallel
#pragma omp single
  build(keys, 0, n, 0, nodes);

  for (std::int32_t k = 0; k < static_cast<std::int32_t>(nodes.size());) {
    if (nodes[k].size() <= max_leaf) {
      leaves.push_back(k);
      k = descendants_end(k);
    } else {
      above.push_back(k++);
    }
  }
  std::reverse(above.begin(), above.end());

#pragma omp parallel for schedule(dynamic, 64)
  for (const std::int32_t leaf : leaves)
    for (std::int32_t k = descendants_end(leaf) - 1; k >= leaf; --k)
      measure(panels, nodes, nodes[k]);
  for (const std::int32_t k : above) measure(panels, nodes, nodes[k]);
#pragma omp parallel for schedule(dynamic, 64)
  for (Cluster& node : nodes)
    if (!node.is_panel() && !node.is_long()) node.radius = radius_of(panels, node);
}

}  // namespace fmbem
