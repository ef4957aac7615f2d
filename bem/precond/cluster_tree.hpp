#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/precond/cluster_kernel.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// The order in which trees take panels: each panel has a place, tree after tree.
struct TreePlaces {
  LargeVector<std::int32_t> panel;       ///< [n], at each place
  std::vector<std::int32_t> tree_begin;  ///< [trees + 1], places
  LargeVector<std::uint64_t> key;        ///< [n], of the panel at each place
  /// [n]: numbers of groups of panels that no node may hold in part unless it is inside of one,
  /// equal numbers next to each other; and the groups' keys, ascending in each tree.
  LargeVector<std::int32_t> part;
  LargeVector<std::uint64_t> part_key;
};

/// A binary tree over panels in Morton order, down to single panels: cut where the highest bit of
/// their keys changes, and in the middle where all keys agree [Karras 2012]. 2n − 1 nodes in
/// preorder, so that a node's panels and descendants are contiguous. Several such trees may stand
/// one behind the other, over all panels together.
struct ClusterTree {
  /// Leaves are the topmost nodes of at most max_leaf panels. O(n log n).
  ClusterTree(std::span<const std::uint64_t> keys, std::span<const Triangle> panels, int max_leaf);
  /// Trees over places, which nodes' `begin` and `end` are then. They are cut between parts first,
  /// by the parts' keys, or between parts with the same key.
  ClusterTree(const TreePlaces& places, std::span<const Triangle> panels, int max_leaf);

  std::vector<Cluster> nodes;
  std::vector<std::int32_t> leaves;
  std::vector<std::int32_t> above;  ///< nodes above the leaves, children first

  std::size_t size() const { return n_; }
  /// The panel at a place.
  std::int32_t panel(std::int32_t place) const {
    return panel_at_.empty() ? place : panel_at_[place];
  }
  /// [n], or null: each panel is at the place of its number.
  const std::int32_t* panel_at() const { return panel_at_.empty() ? nullptr : panel_at_.data(); }
  /// Behind the last descendant of a node.
  std::int32_t descendants_end(std::int32_t node) const {
    return fmbem::descendants_end(nodes[node], node);
  }

  /// Calls body(k) for all nodes, each after those below it.
  template <class Body>
  void for_children_first(Body&& body) const {
#pragma omp parallel for schedule(dynamic, 64)
    for (const std::int32_t leaf : leaves)
      for (std::int32_t k = descendants_end(leaf) - 1; k >= leaf; --k) body(k);
    for (const std::int32_t k : above) body(k);
  }

 private:
  void choose_leaves(int max_leaf);
  void measure(std::span<const Triangle> panels);

  std::size_t n_;
  LargeVector<std::int32_t> panel_at_;  ///< [n], or empty: each at the place of its number
};

}  // namespace fmbem
