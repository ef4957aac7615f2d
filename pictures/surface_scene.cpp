#include <algorithm>
#include <limits>

#include "fmbem/meshes/topology.hpp"
#include "fmbem/pictures/make_scene.hpp"

namespace fmbem {
namespace {

/// Edges of flat parts of a mesh do not count: where panels meet at more than 30 degrees. Molecules
/// are round, and such edges show how coarse their meshes are.
double cosine_of_feature(const ResultArray& array) {
  return array.is_of_molecule() ? -std::numeric_limits<double>::infinity() : 0.866;
}

Vec3d normal_of(const std::vector<Vec3d>& vertices, const std::array<int, 3>& t) {
  const auto at = [&](int k) { return vertices[std::size_t(t[std::size_t(k)])]; };
  const Vec3d n = cross(at(1) - at(0), at(2) - at(0));
  const double size = norm(n);
  return size > 0 ? n / size : n;
}

SurfaceMesh mesh_of(const Scene& scene) {
  SurfaceMesh mesh;
  mesh.vertices = scene.points;
  mesh.triangles = scene.triangles;
  mesh.group_of = scene.group_of;
  return mesh;
}

/// The edges for whose sides `is_drawn` holds.
template <class IsDrawn>
std::vector<std::vector<Vec3d>> edges_where(const SurfaceMesh& mesh, IsDrawn&& is_drawn) {
  std::vector<std::vector<Vec3d>> edges;
  EdgeTable(mesh).for_each_edge([&](int lo, int hi, std::span<const EdgeSide> sides) {
    if (is_drawn(sides))
      edges.push_back({mesh.vertices[std::size_t(lo)], mesh.vertices[std::size_t(hi)]});
  });
  return edges;
}

}  // namespace

View view_of_bodies() {
  const Vec3d eye{0.55, -1, 0.62};
  View view;
  view.toward = eye / norm(eye);
  view.right = cross({0, 0, 1}, view.toward);
  view.right = view.right / norm(view.right);
  view.up = cross(view.toward, view.right);
  return view;
}

Scene surface_scene(const Result& result, const ResultArray& array) {
  const SurfaceMesh& mesh = result.surface;
  Scene scene;
  scene.points = mesh.vertices;
  scene.triangles = mesh.triangles;
  scene.group_of = mesh.group_of;
  for (const Group& group : mesh.groups) scene.groups.push_back(group.name);
  scene.values = array.values;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    scene.weights.push_back(triangle_area(mesh, i));
  scene.length_unit = result.length_unit;
  scene.view = view_of_bodies();
  const double sharpest = cosine_of_feature(array);
  const auto is_feature = [&](std::span<const EdgeSide> sides) {
    if (sides.size() != 2) return true;
    const auto a = std::size_t(sides[0].triangle), b = std::size_t(sides[1].triangle);
    // Sides that run through the edge the same way have normals to opposite sides.
    const double sign = sides[0].forward == sides[1].forward ? -1 : 1;
    return mesh.group_of[a] != mesh.group_of[b] ||
           sign * dot(normal_of(mesh.vertices, mesh.triangles[a]),
                      normal_of(mesh.vertices, mesh.triangles[b])) <
               sharpest;
  };
  scene.lines.push_back({black, 1.6, 1, edges_where(mesh, is_feature)});
  return scene;
}

void add_silhouette(Scene& scene) {
  const SurfaceMesh mesh = mesh_of(scene);
  const auto faces_eye = [&](const EdgeSide& side) {
    const auto& triangle = mesh.triangles[std::size_t(side.triangle)];
    return (dot(normal_of(mesh.vertices, triangle), scene.view.toward) > 0) == side.forward;
  };
  scene.lines.push_back({black, 1.6, 1, edges_where(mesh, [&](std::span<const EdgeSide> sides) {
                           return sides.size() == 2 && faces_eye(sides[0]) == faces_eye(sides[1]);
                         })});
}

}  // namespace fmbem
