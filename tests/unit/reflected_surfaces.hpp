#pragma once

// Surfaces before symmetry planes, and with their images, made without the code under test.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fmbem/bem/geometry/symmetry.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// The part of a surface where a coordinate is above a value, whose triangles do not cross it.
inline SurfaceMesh part_above(const SurfaceMesh& mesh, int axis, double offset = 0) {
  SurfaceMesh part;
  part.groups = mesh.groups;
  std::vector<int> vertex(mesh.vertices.size(), -1);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    std::array<int, 3> corners = mesh.triangles[t];
    Vec3d sum{};
    for (const int v : corners) sum += mesh.vertices[v];
    if (sum[axis] / 3 < offset) continue;
    for (int& v : corners) {
      if (vertex[v] < 0) vertex[v] = add_vertex(part, mesh.vertices[v]);
      v = vertex[v];
    }
    add_triangle(part, corners[0], corners[1], corners[2], mesh.group_of[t]);
  }
  return part;
}

/// A surface and, behind it in all arrays, its image across each plane in turn; vertices in planes
/// are there twice. `sign` are those of the images, [triangles].
inline SurfaceMesh with_mirrored(SurfaceMesh mesh, const SymmetryPlanes& planes,
                                 std::vector<double>& sign) {
  sign.assign(mesh.triangles.size(), 1.0);
  for (int axis = 0; axis < 3; ++axis) {
    if (!planes.at[axis]) continue;
    const std::size_t n = mesh.triangles.size();
    const int n_vertices = static_cast<int>(mesh.vertices.size());
    for (int v = 0; v < n_vertices; ++v) {
      Vec3d x = mesh.vertices[v];
      x[axis] = planes.at[axis]->offset - (x[axis] - planes.at[axis]->offset);
      add_vertex(mesh, x);
    }
    for (std::size_t t = 0; t < n; ++t) {
      const auto [a, b, c] = mesh.triangles[t];
      add_triangle(mesh, b + n_vertices, a + n_vertices, c + n_vertices, mesh.group_of[t]);
      sign.push_back(planes.at[axis]->kind == PlaneKind::ground ? -sign[t] : sign[t]);
    }
  }
  return mesh;
}

inline SymmetryPlanes plane(int axis, PlaneKind kind, double offset = 0) {
  SymmetryPlanes planes;
  planes.at[axis] = SymmetryPlane{kind, offset};
  return planes;
}

inline SymmetryPlanes planes(PlaneKind x, PlaneKind y, PlaneKind z, Vec3d offset = {}) {
  return {{SymmetryPlane{x, offset.x}, SymmetryPlane{y, offset.y}, SymmetryPlane{z, offset.z}}};
}

/// [images][n]: values with the signs of images, in the order of with_mirrored().
inline std::vector<double> repeated(const std::vector<double>& values,
                                    const std::vector<double>& sign) {
  std::vector<double> result;
  for (std::size_t t = 0; t < sign.size(); ++t)
    result.push_back(sign[t] * values[t % values.size()]);
  return result;
}

}  // namespace fmbem::test
