#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/panels.hpp"

namespace fmbem {

/// A node of a ClusterTree: a panel, or two nodes. What it tells of charge spread over it is what
/// the smooth kernel needs,
///
///     g(k, l) = 1/(4π) / √(|c_k − c_l|² + s_k² + s_l²),   g(k, k) = 1/(4π) / √(2 s_k²),
///
/// the mean potential on node k of a unit charge on node l: s_k is such that g(k, k) is that of a
/// panel, and of a cluster what g makes of its two halves.
struct Cluster {
  std::int32_t begin, end;   ///< its panels
  std::int32_t left, right;  ///< nodes; −1 for a panel
  double area;
  Vec3d centroid;
  double radius;  ///< largest distance of a panel's end from the centroid
  double smear2;  ///< s²

  bool is_panel() const { return left < 0; }
  std::int32_t size() const { return end - begin; }
};

/// A binary tree over panels in Morton order, down to single panels: cut where the highest bit of
/// their keys changes, and in the middle where all keys agree [Karras 2012]. 2n − 1 nodes in
/// preorder, so that a node's panels and descendants are contiguous.
struct ClusterTree {
  /// Leaves are the topmost nodes of at most max_leaf panels. O(n log n).
  ClusterTree(const Panels& panels, int max_leaf);

  std::vector<Cluster> nodes;
  std::vector<std::int32_t> leaves;
  std::vector<std::int32_t> above;  ///< nodes above the leaves, children first

  /// Behind the last descendant of a node.
  std::int32_t descendants_end(std::int32_t node) const {
    return node + 2 * nodes[node].size() - 1;
  }
};

}  // namespace fmbem
