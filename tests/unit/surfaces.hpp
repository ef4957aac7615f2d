#pragma once

// Surfaces for tests, made without the code under test.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem::test {

inline int add_vertex(SurfaceMesh& mesh, Vec3d v) {
  mesh.vertices.push_back(v);
  mesh.vertex_tags.push_back(mesh.vertices.size());
  return static_cast<int>(mesh.vertices.size()) - 1;
}

inline void add_triangle(SurfaceMesh& mesh, int a, int b, int c, int group) {
  mesh.triangles.push_back({a, b, c});
  mesh.triangle_tags.push_back(mesh.triangles.size());
  mesh.group_of.push_back(group);
}

inline int add_group(SurfaceMesh& mesh, const char* name) {
  mesh.groups.push_back({name, static_cast<int>(mesh.groups.size()) + 1});
  return static_cast<int>(mesh.groups.size()) - 1;
}

using Faces = std::vector<std::array<int, 3>>;

/// Every face split into four, with new vertices at the middles of the edges.
inline Faces split_into_four(const Faces& faces, std::vector<Vec3d>& vertices) {
  std::unordered_map<std::int64_t, int> middle;
  middle.reserve(3 * faces.size() / 2);
  const auto between = [&](int a, int b) {
    const std::int64_t edge = std::int64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto [entry, is_new] = middle.try_emplace(edge, static_cast<int>(vertices.size()));
    if (is_new) vertices.push_back(0.5 * (vertices[a] + vertices[b]));
    return entry->second;
  };
  Faces finer;
  for (const auto& [a, b, c] : faces) {
    const int ab = between(a, b), bc = between(b, c), ca = between(c, a);
    finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
  }
  return finer;
}

/// A body whose vertices are on the unit sphere, with its faces split into four `level` times and
/// new vertices pushed to the sphere; then scaled by `axes` about `centre`.
inline void add_round(SurfaceMesh& mesh, const char* name, std::vector<Vec3d> unit, Faces faces,
                      int level, Vec3d axes, Vec3d centre) {
  for (int k = 0; k < level; ++k) {
    faces = split_into_four(faces, unit);
    for (Vec3d& v : unit) v = v / norm(v);
  }
  const int group = add_group(mesh, name);
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& v : unit)
    add_vertex(mesh, centre + Vec3d{axes.x * v.x, axes.y * v.y, axes.z * v.z});
  for (const auto& [a, b, c] : faces) add_triangle(mesh, first + a, first + b, first + c, group);
}

/// From an octahedron: 8·4^level panels.
inline void add_ellipsoid(SurfaceMesh& mesh, const char* name, int level, Vec3d axes,
                          Vec3d centre = {}) {
  add_round(
      mesh, name, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
      {{0, 1, 2}, {1, 3, 2}, {3, 4, 2}, {4, 0, 2}, {1, 0, 5}, {3, 1, 5}, {4, 3, 5}, {0, 4, 5}},
      level, axes, centre);
}

/// Vertices of an icosahedron on the unit sphere, and its faces.
inline std::vector<Vec3d> icosahedron_vertices() {
  const double a = std::sqrt((5 - std::sqrt(5.0)) / 10), b = std::sqrt((5 + std::sqrt(5.0)) / 10);
  return {{-a, b, 0},  {a, b, 0},  {-a, -b, 0}, {a, -b, 0}, {0, -a, b},  {0, a, b},
          {0, -a, -b}, {0, a, -b}, {b, 0, -a},  {b, 0, a},  {-b, 0, -a}, {-b, 0, a}};
}
inline Faces icosahedron_faces() {
  return {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
          {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
          {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
}

/// The unit sphere from an icosahedron: 20·4^level panels.
inline SurfaceMesh icosphere(int level) {
  SurfaceMesh mesh;
  add_round(mesh, "sphere", icosahedron_vertices(), icosahedron_faces(), level, {1, 1, 1}, {});
  mesh.closed = true;
  return mesh;
}

/// The unit sphere from an icosahedron whose edges are cut into so many parts: 20·parts² panels.
inline SurfaceMesh geodesic_sphere(int parts) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "sphere");
  const std::vector<Vec3d> corners = icosahedron_vertices();
  for (const Vec3d& v : corners) add_vertex(mesh, v);
  std::map<std::array<int, 2>, int> edges;  // the first vertex within each
  const auto on_edge = [&](int from, int to, int k) {
    if (k == 0 || k == parts) return k == 0 ? from : to;
    const auto [a, b] = std::minmax(from, to);
    const auto [edge, is_new] = edges.try_emplace({a, b}, static_cast<int>(mesh.vertices.size()));
    for (int l = 1; is_new && l < parts; ++l)
      add_vertex(mesh, (parts - l) * corners[a] + l * corners[b]);
    return edge->second + (from == a ? k : parts - k) - 1;
  };
  std::vector<int> row, row_before;
  for (const auto& [a, b, c] : icosahedron_faces())
    for (int i = 0; i <= parts; ++i) {  // from a to the edge from b to c
      row.clear();
      for (int j = 0; j <= i; ++j) {
        if (j == 0 || j == i || i == parts) {
          row.push_back(i == parts ? on_edge(b, c, j) : on_edge(a, j == 0 ? b : c, i));
          continue;
        }
        row.push_back(
            add_vertex(mesh, (parts - i) * corners[a] + (i - j) * corners[b] + j * corners[c]));
      }
      for (int j = 0; j < i; ++j) {
        add_triangle(mesh, row_before[j], row[j], row[j + 1], group);
        if (j > 0) add_triangle(mesh, row_before[j - 1], row[j], row_before[j], group);
      }
      std::swap(row, row_before);
    }
  for (Vec3d& v : mesh.vertices) v = v / norm(v);
  mesh.closed = true;
  return mesh;
}

inline SurfaceMesh sphere(int level, double radius = 1, Vec3d centre = {}) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "sphere", level, {radius, radius, radius}, centre);
  mesh.closed = true;
  return mesh;
}

/// A grid of the parallelogram at `corner` with the sides u and v, two triangles a cell, its lines
/// at line[i]/line.back() of both sides; normals along u × v.
inline void add_grid_of_lines(SurfaceMesh& mesh, int group, const std::vector<double>& line,
                              Vec3d corner, Vec3d u, Vec3d v) {
  const int n = static_cast<int>(line.size()) - 1;
  const int first = static_cast<int>(mesh.vertices.size());
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j)
      add_vertex(mesh, corner + (line[i] / line[n]) * u + (line[j] / line[n]) * v);
  const auto at = [&](int i, int j) { return first + i * (n + 1) + j; };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), group);
      add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), group);
    }
  }
}

/// With n × n equal cells.
inline void add_grid(SurfaceMesh& mesh, int group, int n, Vec3d corner, Vec3d u, Vec3d v) {
  std::vector<double> line(n + 1);
  std::iota(line.begin(), line.end(), 0.0);
  add_grid_of_lines(mesh, group, line, corner, u, v);
}

/// The unit disk: a hexagon's triangles, split into four `level` times, each ring blown up to a
/// circle; 6·4^level panels.
inline SurfaceMesh disk(int level) {
  const double pi = 3.14159265358979323846;
  std::vector<Vec3d> vertices{{0, 0, 0}};
  Faces faces;
  for (int k = 0; k < 6; ++k) {
    vertices.push_back({std::cos(k * pi / 3), std::sin(k * pi / 3), 0});
    faces.push_back({0, k + 1, (k + 1) % 6 + 1});
  }
  for (int k = 0; k < level; ++k) faces = split_into_four(faces, vertices);
  SurfaceMesh mesh;
  const int group = add_group(mesh, "disk");
  for (const Vec3d& v : vertices) {
    double ring = 0;  // of the hexagon through v, which becomes a circle
    for (int k = 0; k < 6; ++k)
      ring =
          std::max(ring, (v.x * std::cos((k + 0.5) * pi / 3) + v.y * std::sin((k + 0.5) * pi / 3)) /
                             std::cos(pi / 6));
    add_vertex(mesh, ring > 0 ? (ring / norm(v)) * v : v);
  }
  for (const auto& [a, b, c] : faces) add_triangle(mesh, a, b, c, group);
  return mesh;
}

/// Of these radii about the z axis: cells round the ring and n round the tube, about as long as
/// they are wide, two triangles each.
inline SurfaceMesh torus(int n, double ring, double tube) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "torus"), around = n * static_cast<int>(ring / tube);
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < n; ++j) {
      const double u = 2 * std::numbers::pi * i / around, v = 2 * std::numbers::pi * j / n;
      const double r = ring + tube * std::cos(v);
      add_vertex(mesh, {r * std::cos(u), r * std::sin(u), tube * std::sin(v)});
    }
  const auto at = [&](int i, int j) { return (i % around) * n + j % n; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < n; ++j) {
      add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), group);
      add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), group);
    }
  mesh.closed = true;
  return mesh;
}

/// The plate between three points, in cells of lines at these parts of both of its sides.
inline SurfaceMesh plate_of_lines(const std::vector<double>& us, const std::vector<double>& vs,
                                  Vec3d corner, Vec3d u, Vec3d v) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "plate"), nv = static_cast<int>(vs.size());
  for (const double s : us)
    for (const double t : vs) add_vertex(mesh, corner + s * u + t * v);
  for (int i = 0; i + 1 < static_cast<int>(us.size()); ++i) {
    for (int j = 0; j + 1 < nv; ++j) {
      const int at = i * nv + j;
      add_triangle(mesh, at, at + nv, at + nv + 1, group);
      add_triangle(mesh, at, at + nv + 1, at + 1, group);
    }
  }
  return mesh;
}

/// n equal steps from 0 to 1, to some power.
inline std::vector<double> steps(int n, double power = 1) {
  std::vector<double> at;
  for (int i = 0; i <= n; ++i) at.push_back(std::pow(static_cast<double>(i) / n, power));
  return at;
}

/// Some long cells across a tilted unit plate.
inline SurfaceMesh long_plate(int across, int along) {
  return plate_of_lines(steps(across), steps(along), {}, {0.6, 0.64, 0.48}, {-0.8, 0.48, 0.36});
}

/// Two such plates, the second one moved by `gap` along their normal.
inline SurfaceMesh facing_sheets(int across, int along, double gap) {
  SurfaceMesh mesh = long_plate(across, along);
  const SurfaceMesh lower = mesh;
  const int first = static_cast<int>(lower.vertices.size());
  const Vec3d normal =
      cross(lower.vertices[1] - lower.vertices[0], lower.vertices[along + 1] - lower.vertices[0]);
  for (const Vec3d& v : lower.vertices) add_vertex(mesh, v + (gap / norm(normal)) * normal);
  for (const auto& [a, b, c] : lower.triangles)
    add_triangle(mesh, first + a, first + b, first + c, 0);
  return mesh;
}

/// A unit plate with n × n cells, graded by x⁴ and y⁴ towards a corner.
inline SurfaceMesh graded_plate(int n) {
  return plate_of_lines(steps(n, 4), steps(n, 4), {}, {1, 0, 0}, {0, 1, 0});
}

inline SurfaceMesh plate(int n) {
  SurfaceMesh mesh;
  add_grid(mesh, add_group(mesh, "plate"), n, {0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  return mesh;
}

/// The unit cube, its upper face by add_upper(mesh, group, corner, edge, edge); its faces do not
/// share vertices, which no integral notices.
inline SurfaceMesh cube_with_upper_face(int n, auto&& add_upper) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "cube");
  const Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1}, far{1, 1, 1};
  add_grid(mesh, group, n, {}, y, x);
  add_grid(mesh, group, n, {}, z, y);
  add_grid(mesh, group, n, {}, x, z);
  add_upper(mesh, group, far, -x, -y);
  add_grid(mesh, group, n, far, -y, -z);
  add_grid(mesh, group, n, far, -z, -x);
  return mesh;
}

inline SurfaceMesh cube(int n) {
  const auto add_uniform = [n](SurfaceMesh& mesh, int group, Vec3d corner, Vec3d u, Vec3d v) {
    add_grid(mesh, group, n, corner, u, v);
  };
  SurfaceMesh mesh = cube_with_upper_face(n, add_uniform);
  mesh.closed = true;
  return mesh;
}

/// The cube in 2n × 2n cells a face, one vertex and the halves of its edges pushed in, where these
/// are re-entrant.
inline SurfaceMesh notched_cube(int n) {
  SurfaceMesh mesh = cube(2 * n);
  for (Vec3d& v : mesh.vertices) {
    const double away = 1 - std::min({v.x, v.y, v.z});  // from the vertex
    if (away < 0.5) v = v - (0.4 * (1 - 2 * away)) * Vec3d{1, 1, 1};
  }
  return mesh;
}

/// A wedge of that angle at the z axis, re-entrant above 180 degrees: a prism of length 1 over a
/// part of a polygon of radius 1, its faces split into four `level` times.
inline SurfaceMesh wedge(double degrees, int level) {
  const int parts = static_cast<int>(std::ceil(degrees / 60));
  std::vector<Vec3d> vertices{{0, 0, 0}, {0, 0, 1}};
  for (int k = 0; k <= parts; ++k) {
    const double angle = std::numbers::pi / 180 * degrees * k / parts;
    for (const double z : {0.0, 1.0}) vertices.push_back({std::cos(angle), std::sin(angle), z});
  }
  Faces faces;
  const auto add_side = [&](int from, int to) {  // what lies below the vertices' next ones
    faces.insert(faces.end(), {{from, to, to + 1}, {from, to + 1, from + 1}});
  };
  const int last = 2 * parts + 2;
  add_side(0, 2);
  for (int k = 2; k < last; k += 2) {
    add_side(k, k + 2);
    faces.insert(faces.end(), {{0, k + 2, k}, {1, k + 1, k + 3}});
  }
  add_side(last, 0);
  for (int k = 0; k < level; ++k) faces = split_into_four(faces, vertices);
  SurfaceMesh mesh;
  const int group = add_group(mesh, "wedge");
  for (const Vec3d& v : vertices) add_vertex(mesh, v);
  for (const auto& [a, b, c] : faces) add_triangle(mesh, a, b, c, group);
  mesh.closed = true;
  return mesh;
}

/// With lines that are denser towards all four sides: the smallest cells are `ratio` times smaller
/// than the largest, and those along the sides are slivers.
inline void add_graded_grid(SurfaceMesh& mesh, int group, int n, double ratio, Vec3d corner,
                            Vec3d u, Vec3d v) {
  std::vector<double> line{0};
  for (int i = 0; i < n; ++i) {
    const double from_side = std::min(i, n - 1 - i) / (0.5 * n - 1);
    line.push_back(line.back() + std::pow(ratio, std::min(from_side, 1.0)));
  }
  add_grid_of_lines(mesh, group, line, corner, u, v);
}

/// A bracket as in CAD: an L of two unit cubes and one above, all faces graded 30:1 towards their
/// edges (3 to 1 there meet slivers of 1 to 30); 28 n² panels.
inline SurfaceMesh bracket(int n) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "bracket");
  const Vec3d x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  const auto face = [&](Vec3d corner, Vec3d u, Vec3d v) {
    add_graded_grid(mesh, group, n, 30, corner, u, v);
  };
  // The cubes stand at the origin, at x and at z; what they share is no face.
  for (const Vec3d corner : {Vec3d{}, x, z}) {
    face(corner, x, z);
    face(corner + y, z, x);
  }
  face({}, z, y);
  face(z, z, y);
  face({}, y, x);
  face(x, y, x);
  face(x + x, y, z);
  face(x + z, x, y);
  face(z + x, y, z);
  face(z + z, x, y);
  mesh.closed = true;
  return mesh;
}

}  // namespace fmbem::test
