#include "fmbem/meshes/shape.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fmbem {

Box bounding_box(const SurfaceMesh& mesh) {
  if (mesh.vertices.empty()) return {};
  Box box{mesh.vertices[0], mesh.vertices[0]};
  for (const Vec3d& x : mesh.vertices)
    for (int axis = 0; axis < 3; ++axis) {
      box.min[axis] = std::min(box.min[axis], x[axis]);
      box.max[axis] = std::max(box.max[axis], x[axis]);
    }
  return box;
}

double triangle_area(const SurfaceMesh& mesh, std::size_t i) {
  const auto& [a, b, c] = mesh.triangles[i];
  const Vec3d& origin = mesh.vertices[a];
  return 0.5 * norm(cross(mesh.vertices[b] - origin, mesh.vertices[c] - origin));
}

TriangleShape triangle_shape(const SurfaceMesh& mesh, std::size_t i) {
  const auto& [a, b, c] = mesh.triangles[i];
  std::array<Vec3d, 3> side = {mesh.vertices[b] - mesh.vertices[a],
                               mesh.vertices[c] - mesh.vertices[b],
                               mesh.vertices[a] - mesh.vertices[c]};
  std::sort(side.begin(), side.end(), [](Vec3d p, Vec3d q) { return norm2(p) < norm2(q); });
  TriangleShape shape;
  shape.shortest_edge = norm(side[0]);
  shape.longest_edge = norm(side[2]);
  // The two shorter sides give the cross product with the least cancellation.
  const double twice_area = norm(cross(side[0], side[1]));
  shape.smallest_height = shape.longest_edge > 0 ? twice_area / shape.longest_edge : 0;
  // Opposite the shortest side, between the two longer ones, which run head to tail.
  shape.smallest_angle = std::atan2(twice_area, -dot(side[1], side[2]));
  return shape;
}

}  // namespace fmbem
