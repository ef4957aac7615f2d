#pragma once

#include <array>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// A mesh with a new vertex in the middle of each edge, behind the old ones, and what the triangles
/// were split from. Children of triangle i are 4i to 4i+3: those of its corners 0, 1, 2, each with
/// that corner first, then the one in the middle, with the middles of the sides 0, 1, 2.
struct SplitMesh {
  SurfaceMesh mesh;
  std::vector<std::array<int, 3>> middle;  ///< [n parents]: new vertex on the side k
  std::vector<std::size_t> first_side;     ///< [n new vertices]: 3 triangle + k
};

/// Splits every triangle into four. Throws InputError for more triangles than can be numbered.
SplitMesh split_edges(const SurfaceMesh& coarse);

/// Numbers tags of vertices and triangles from 1.
void number_tags(SurfaceMesh& mesh);

}  // namespace fmbem
