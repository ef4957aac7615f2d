#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// Panels of a surface mesh in Morton order of their centroids, one unknown each. Coordinates are
/// the mesh's, less `origin`.
struct Panels {
  LargeVector<Triangle> triangle;         ///< [n]
  LargeVector<std::int64_t> input_index;  ///< [n], triangle of the mesh
  LargeVector<std::uint64_t> key;         ///< [n], Morton keys of the centroids, ascending
  std::vector<std::int64_t> leaf_begin;   ///< [n_leaves + 1]: leaves of an octree
  Vec3d origin;                           ///< centre of the bounding box
  double extent = 0;                      ///< diagonal of the bounding box

  std::size_t size() const { return triangle.size(); }
  std::size_t leaves() const { return leaf_begin.size() - 1; }

  /// Values in the mesh's order from values in Morton order, and back.
  std::vector<double> to_input_order(std::span<const double> values) const;
  std::vector<double> from_input_order(std::span<const double> values) const;
};

/// Throws InputError for a mesh without triangles.
Panels make_panels(const SurfaceMesh& mesh, int max_leaf = 64);

}  // namespace fmbem
