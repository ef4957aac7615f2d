#include "fmbem/problems/known_shapes.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/meshes/refine.hpp"

namespace fmbem {
namespace {

void add_octahedron(SurfaceMesh& mesh, Vec3d centre) {
  for (const double x : {1.0, -1.0})
    for (const double y : {1.0, -1.0})
      for (const double z : {1.0, -1.0}) {
        std::array<Vec3d, 3> corners{centre + x * along_x, centre + y * along_y,
                                     centre + z * along_z};
        if (x * y * z < 0) std::swap(corners[1], corners[2]);
        add_triangle(mesh, corners);
      }
}

/// Moves vertices to the unit sphere whose centre is nearest.
void push_to_spheres(SurfaceMesh& mesh, const std::vector<Vec3d>& centres) {
  for (Vec3d& v : mesh.vertices) {
    const Vec3d* nearest = &centres.front();
    for (const Vec3d& centre : centres)
      if (norm2(v - centre) < norm2(v - *nearest)) nearest = &centre;
    v = *nearest + (v - *nearest) / norm(v - *nearest);
  }
}

}  // namespace

void add_triangle(SurfaceMesh& mesh, std::array<Vec3d, 3> corners) {
  std::array<int, 3> triangle{};
  for (int k = 0; k < 3; ++k) {
    auto at = std::find(mesh.vertices.begin(), mesh.vertices.end(), corners[k]);
    triangle[k] = static_cast<int>(at - mesh.vertices.begin());
    if (at != mesh.vertices.end()) continue;
    mesh.vertices.push_back(corners[k]);
    mesh.vertex_tags.push_back(mesh.vertices.size());
  }
  mesh.triangles.push_back(triangle);
  mesh.triangle_tags.push_back(mesh.triangles.size());
  mesh.group_of.push_back(static_cast<int>(mesh.groups.size()) - 1);
}

void add_group(SurfaceMesh& mesh, const std::string& name) {
  mesh.groups.push_back({name, static_cast<int>(mesh.groups.size()) + 1});
}

void add_square(SurfaceMesh& mesh, Vec3d corner, Vec3d u, Vec3d v) {
  add_triangle(mesh, {corner, corner + u, corner + u + v});
  add_triangle(mesh, {corner, corner + u + v, corner + v});
}

void add_face(SurfaceMesh& mesh, const std::array<int, 3>& cube, int axis, int step) {
  constexpr std::array<Vec3d, 3> axes{along_x, along_y, along_z};
  Vec3d corner{double(cube[0]), double(cube[1]), double(cube[2])};
  Vec3d u = axes[(axis + 1) % 3], v = axes[(axis + 2) % 3];
  if (step > 0)
    corner += axes[axis];
  else
    std::swap(u, v);
  add_square(mesh, corner, u, v);
}

SurfaceMesh unit_spheres(const std::vector<Vec3d>& centres, int times) {
  SurfaceMesh mesh;
  for (std::size_t k = 0; k < centres.size(); ++k) {
    add_group(mesh, "sphere " + std::to_string(k + 1));
    add_octahedron(mesh, centres[k]);
  }
  for (int k = 0; k < times; ++k) {
    mesh = refine_uniformly(mesh);
    push_to_spheres(mesh, centres);
  }
  mesh.closed = true;
  return mesh;
}

}  // namespace fmbem
