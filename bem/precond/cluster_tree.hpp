#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/precond/cluster_kernel.hpp"

namespace fmbem {

/// A binary tree over panels in Morton order, down to single panels: cut where the highest bit of
/// their keys changes, and in the middle where all keys agree [Karras 2012]. 2n − 1 nodes in
/// preorder, so that a node's panels and descendants are contiguous.
struct ClusterTree {
  /// Leaves are the topmost nodes of at most max_leaf panels. O(n log n).
  ClusterTree(std::span<const std::uint64_t> keys, std::span<const Triangle> panels, int max_leaf);

  std::vector<Cluster> nodes;
  std::vector<std::int32_t> leaves;
  std::vector<std::int32_t> above;  ///< nodes above the leaves, children first

  /// Behind the last descendant of a node.
  std::int32_t descendants_end(std::int32_t node) const {
    return fmbem::descendants_end(nodes[node], node);
  }
};

}  // namespace fmbem
