#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/shape.hpp"

namespace fmbem {

/// Whether two boxes have a point in common.
inline bool overlap(const Box& a, const Box& b) {
  return a.min.x <= b.max.x && b.min.x <= a.max.x && a.min.y <= b.max.y && b.min.y <= a.max.y &&
         a.min.z <= b.max.z && b.min.z <= a.max.z;
}

/// The triangles of a mesh in a balanced binary tree of boxes, which finds the pairs that are close
/// to each other. The same for any number of threads. O(n log n) time, some 90 bytes a triangle.
class BoxTree {
 public:
  /// Every triangle's box is made larger by `reach`/2 on all sides: then boxes that are at most
  /// `reach` apart overlap.
  BoxTree(const SurfaceMesh& mesh, double reach);

  int leaves() const { return 1 << depth_; }

  /// Calls visit(i, j) for each triangle i of a leaf and each triangle j behind it, in the order of
  /// the tree, whose boxes overlap. All leaves together visit every such pair once.
  template <class Visit>
  void for_each_pair(int leaf, Visit&& visit) const {
    const std::size_t begin = first_item(leaves() + leaf), end = first_item(leaves() + leaf + 1);
    for (std::size_t a = begin; a < end; ++a) visit_overlapping(items_[a], a + 1, end, visit);
    const Box& box = boxes_[leaves() + leaf];
    std::array<int, 64> stack;
    int height = 0;
    stack[height++] = 1;
    while (height > 0) {
      const int node = stack[--height];
      const int below = depth_ - level(node);  // levels
      const int last_leaf = ((node + 1) << below) - 1 - leaves();
      if (last_leaf <= leaf || !overlap(box, boxes_[node])) continue;
      if (below > 0) {
        stack[height++] = 2 * node + 1;
        stack[height++] = 2 * node;
      } else {
        for (std::size_t a = begin; a < end; ++a)
          if (overlap(items_[a].box, boxes_[node]))
            visit_overlapping(items_[a], first_item(node), first_item(node + 1), visit);
      }
    }
  }

 private:
  struct Item {
    Box box;
    int triangle;
  };

  static int level(int node) { return std::bit_width(static_cast<unsigned>(node)) - 1; }
  /// Where a node's items begin; they end where those of the next node on its level begin.
  std::size_t first_item(int node, int on_level) const {
    return (items_.size() * (static_cast<std::size_t>(node) - (std::size_t{1} << on_level))) >>
           on_level;
  }
  /// Of a leaf.
  std::size_t first_item(int leaf_node) const { return first_item(leaf_node, depth_); }

  template <class Visit>
  void visit_overlapping(const Item& item, std::size_t begin, std::size_t end,
                         Visit&& visit) const {
    for (std::size_t b = begin; b < end; ++b)
      if (overlap(item.box, items_[b].box)) visit(item.triangle, items_[b].triangle);
  }

  struct Centre;
  void split(std::vector<Centre>& centres, int node) const;

  int depth_ = 0;
  std::vector<Item> items_;  // leaf after leaf
  std::vector<Box> boxes_;   // [2·leaves], of node k, which has the children 2k and 2k+1; 1: all
};

}  // namespace fmbem
