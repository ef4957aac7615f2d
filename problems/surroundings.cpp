#include "fmbem/problems/surroundings.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
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

/// The triangles of groups that are interfaces, or of all others.
SurfaceMesh part_of(const SurfaceMesh& mesh, const BoundaryProblem& problem, bool interfaces) {
  std::vector<bool> is_interface;
  for (const Group& group : mesh.groups)
    is_interface.push_back(std::any_of(
        problem.groups.begin(), problem.groups.end(), [&](const GroupCondition& condition) {
          return condition.group == group.name && condition.kind == GroupCondition::Kind::interface;
        }));
  SurfaceMesh part;
  part.vertices = mesh.vertices;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    if (is_interface[mesh.group_of[i]] == interfaces) part.triangles.push_back(mesh.triangles[i]);
  return part;
}

}  // namespace

Surroundings surroundings(const SurfaceMesh& mesh, const ProblemSolution& solution,
                          const PointSet& set) {
  if (set.cells != PointCells::quadrangles && set.cells != PointCells::hexahedra) return {};
  SurfaceMesh walls = part_of(mesh, solution.problem, false);
  const SurfaceMesh interfaces = part_of(mesh, solution.problem, true);
  Box box{set.points[0], set.points[0]};
  for (const Vec3d& x : set.points) enclose(box, x);
  const SymmetryPlanes planes = planes_of(solution.panels);
  for (const int axis : planes.axes())
    if (planes.at[axis]->kind == PlaneKind::ground)
      add_ground(walls, axis, planes.at[axis]->offset, box);
  Surroundings around = surroundings(walls, set);
  Surroundings of_interfaces = surroundings(interfaces, set);
  around.interface = std::move(of_interfaces.outline);
  around.surface.insert(around.surface.end(), of_interfaces.surface.begin(),
                        of_interfaces.surface.end());
  return around;
}

}  // namespace fmbem
