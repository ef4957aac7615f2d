#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// A triangle's side: the edge from its corner k to corner k+1 (mod 3).
struct EdgeSide {
  int hi;  ///< the edge's vertex of larger index
  int triangle;
  int corner;    ///< k
  bool forward;  ///< the triangle runs through the edge from the smaller index to the larger
};

/// The sides of all triangles, sorted by edge. O(n) time, 16 bytes a side.
class EdgeTable {
 public:
  explicit EdgeTable(const SurfaceMesh& mesh);

  /// Calls visit(lo, hi, sides) for every edge, in the order of (lo, hi); sides in triangle order.
  template <class Visit>
  void for_each_edge(Visit&& visit) const {
    for (std::size_t lo = 0; lo + 1 < begin_.size(); ++lo)
      for (std::size_t first = begin_[lo]; first < begin_[lo + 1];) {
        std::size_t last = first + 1;
        while (last < begin_[lo + 1] && sides_[last].hi == sides_[first].hi) ++last;
        visit(static_cast<int>(lo), sides_[first].hi,
              std::span<const EdgeSide>(&sides_[first], last - first));
        first = last;
      }
  }

 private:
  std::vector<std::size_t> begin_;  // [n_vertices+1] of the sides with that smaller vertex
  std::vector<EdgeSide> sides_;
};

/// Connected components by shared vertices, numbered in the order of their first triangles.
struct Components {
  std::vector<int> of;  ///< [n triangles]
  int n = 0;
};
Components connected_components(const SurfaceMesh& mesh);

/// Throws InputError for triangles with the same three vertices, naming both, and what they belong
/// to where part_of(triangle) knows it: "" where it does not.
void refuse_coincident_triangles(const SurfaceMesh& mesh, const EdgeTable& edges,
                                 const std::function<std::string(int triangle)>& part_of);

/// Orients the triangles, sets closed, orientable and repairs.flipped_triangles, and adds notices.
void orient(SurfaceMesh& mesh, const EdgeTable& edges);

}  // namespace fmbem
