#pragma once

#include <algorithm>
#include <cstddef>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// The range of lengths that can be computed with, in any unit. Integrals take powers of them,
/// which would leave the range of numbers, that of single precision first.
constexpr double smallest_length = 1e-30, largest_length = 1e30;

struct Box {
  Vec3d min, max;
};

/// Makes the box large enough for x.
inline void enclose(Box& box, Vec3d x) {
  for (int axis = 0; axis < 3; ++axis) {
    box.min[axis] = std::min(box.min[axis], x[axis]);
    box.max[axis] = std::max(box.max[axis], x[axis]);
  }
}

/// The box of all vertices; zero without any.
Box bounding_box(const SurfaceMesh& mesh);

struct TriangleShape {
  double shortest_edge, longest_edge;
  double smallest_height;  ///< over the longest edge
  double smallest_angle;   ///< radians
};

/// Exact up to rounding also for needles, whose area is a small difference of large numbers.
TriangleShape triangle_shape(const SurfaceMesh& mesh, std::size_t i);

}  // namespace fmbem
