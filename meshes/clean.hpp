#pragma once

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// Which vertices are merged, by their distance.
enum class MergeDistance {
  box,         ///< 1e-9 of the bounding box's diagonal
  local_edge,  ///< 1e-6 of the shortest edge at either vertex: facets that share no vertices
};

/// Removes vertices that belong to no triangle; the others keep their order.
void drop_unused_vertices(SurfaceMesh& mesh);

/// Throws InputError naming the element with a coordinate that is NaN, infinite or beyond
/// largest_length, and for a mesh whose bounding box has a diagonal below smallest_length.
void refuse_bad_coordinates(const SurfaceMesh& mesh);

/// Merges vertices that are the same within the distance into the first of them, counts them in
/// repairs and adds a notice. O(N log N).
void merge_duplicate_vertices(SurfaceMesh& mesh, MergeDistance distance);

/// Throws InputError naming the first element whose smallest height is at most 1e-12 of its longest
/// edge, or below smallest_length.
void refuse_flat_triangles(const SurfaceMesh& mesh);

}  // namespace fmbem
