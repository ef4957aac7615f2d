#include "fmbem/meshes/check.hpp"

#include <algorithm>
#include <limits>
#include <numbers>

#include "fmbem/meshes/topology.hpp"

namespace fmbem {

MeshReport check_mesh(const SurfaceMesh& mesh) {
  constexpr double thin = 1e-6;
  MeshReport report;
  report.panels = mesh.triangles.size();
  report.vertices = mesh.vertices.size();
  report.components = static_cast<std::size_t>(connected_components(mesh).n);
  report.flipped = mesh.repairs.flipped_triangles;
  report.duplicate_vertices = mesh.repairs.merged_vertices;
  const Box box = bounding_box(mesh);
  report.box_min = box.min;
  report.box_max = box.max;
  for (const Group& group : mesh.groups) report.groups.push_back({group.name});

  // Relative to the box's centre the terms of the volume cancel least.
  const Vec3d centre = 0.5 * (box.min + box.max);
  double six_volumes = 0, smallest_angle = std::numbers::pi;
  report.smallest_edge = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const TriangleShape shape = triangle_shape(mesh, i);
    const double area = triangle_area(mesh, i);
    report.area += area;
    GroupReport& group = report.groups.at(static_cast<std::size_t>(mesh.group_of[i]));
    const auto& [a, b, c] = mesh.triangles[i];
    if (group.panels == 0) group.box = {mesh.vertices[a], mesh.vertices[a]};
    for (const int v : mesh.triangles[i]) enclose(group.box, mesh.vertices[v]);
    ++group.panels;
    group.area += area;
    report.degenerate += shape.smallest_height < thin * shape.longest_edge;
    report.smallest_edge = std::min(report.smallest_edge, shape.shortest_edge);
    report.largest_edge = std::max(report.largest_edge, shape.longest_edge);
    smallest_angle = std::min(smallest_angle, shape.smallest_angle);
    six_volumes +=
        dot(mesh.vertices[a] - centre, cross(mesh.vertices[b] - centre, mesh.vertices[c] - centre));
  }
  if (mesh.triangles.empty()) report.smallest_edge = smallest_angle = 0;
  report.smallest_angle = smallest_angle * 180 / std::numbers::pi;
  EdgeTable(mesh).for_each_edge([&](int, int, std::span<const EdgeSide> sides) {
    report.open_edges += sides.size() == 1;
    report.non_manifold_edges += sides.size() > 2;
  });
  if (mesh.closed && mesh.orientable) report.volume = six_volumes / 6;
  return report;
}

}  // namespace fmbem
