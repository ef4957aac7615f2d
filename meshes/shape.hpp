#pragma once

#include <cstddef>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

struct Box {
  Vec3d min, max;
};

/// The box of all vertices; zero without any.
Box bounding_box(const SurfaceMesh& mesh);

struct TriangleShape {
  double shortest_edge, longest_edge;
  double smallest_height;  ///< over the longest edge
  double smallest_angle;   ///< radians
};

/// Exact to rounding also for needles, whose area is the small difference of large numbers.
TriangleShape triangle_shape(const SurfaceMesh& mesh, std::size_t i);

}  // namespace fmbem
