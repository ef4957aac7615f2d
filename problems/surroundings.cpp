#include "fmbem/problems/surroundings.hpp"

#include <algorithm>

#include "fmbem/meshes/shape.hpp"

namespace fmbem {
namespace {

/// Adds two triangles of a ground plane, where it meets the box.
void add_ground(SurfaceMesh& mesh, int axis, double offset, const Box& box) {
  const double margin = norm(box.max - box.min), rounding = 1e-9 * margin;
  if (offset < box.min[axis] - rounding || offset > box.max[axis] + rounding) return;
  // Rounding must not put a plane at the edge of the points out of their reach.
  offset = std::clamp(offset, box.min[axis] + rounding, box.max[axis] - rounding);
  const int across = (axis + 1) % 3, up = (axis + 2) % 3, first = int(mesh.vertices.size());
  for (const int corner : {0, 1, 2, 3}) {
    Vec3d x;
    x[axis] = offset;
    x[across] = corner % 2 == 0 ? box.min[across] - margin : box.max[across] + margin;
    x[up] = corner < 2 ? box.min[up] - margin : box.max[up] + margin;
    mesh.vertices.push_back(x);
  }
  mesh.triangles.push_back({first, first + 1, first + 3});
  mesh.triangles.push_back({first, first + 3, first + 2});
}

}  // namespace

Surroundings surroundings(const SurfaceMesh& mesh, const SymmetryPlanes& planes,
                          const PointSet& set) {
  Surroundings around = surroundings(mesh, set);
  if (planes.empty()) return around;
  SurfaceMesh grounds;
  Box box;
  for (const Vec3d& x : set.points) enclose(box, x);
  for (const int axis : planes.axes())
    if (planes.at[axis]->kind == PlaneKind::ground)
      add_ground(grounds, axis, planes.at[axis]->offset, box);
  const Surroundings of_planes = surroundings(grounds, set);
  around.outline.insert(around.outline.end(), of_planes.outline.begin(), of_planes.outline.end());
  around.surface.insert(around.surface.end(), of_planes.surface.begin(), of_planes.surface.end());
  return around;
}

}  // namespace fmbem
