#pragma once

// Dielectrics that touch each other and conductors, made without the code under test.
#include <cmath>
#include <compare>
#include <cstddef>
#include <numbers>
#include <string>

#include "tests/unit/problem_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// A problem and its mesh.
struct TouchingCase {
  SurfaceMesh mesh;
  BoundaryProblem problem;
};

/// A group of a conductor at a potential.
inline GroupCondition part_of(const char* conductor, const char* group, double volts) {
  GroupCondition condition = at_potential(group, volts);
  condition.conductor.name = conductor;
  return condition;
}

/// Faces of a box in n × n cells each, normals outward, at low x, y, z, then high; a group of −1
/// has none.
inline void add_box_faces(SurfaceMesh& mesh, const std::array<int, 6>& group, int n, Vec3d low,
                          Vec3d size) {
  for (int face = 0; face < 6; ++face) {
    if (group[face] < 0) continue;
    const int axis = face % 3, a = (axis + 1) % 3, b = (axis + 2) % 3;
    Vec3d corner = low, u{}, v{};
    u[a] = size[a];
    v[b] = size[b];
    if (face >= 3) corner[axis] += size[axis];
    face >= 3 ? add_grid(mesh, group[face], n, corner, u, v)
              : add_grid(mesh, group[face], n, corner, v, u);
  }
}

/// A region's permittivity, and what flows through it.
struct Flow {
  double permittivity, amount;
  auto operator<=>(const Flow&) const = default;
};
inline Flow flow_in(const TouchingCase& of, const ProblemSolution& solution,
                    const std::string& region) {
  std::size_t r = 0;
  while (of.problem.regions[r].name != region) ++r;
  return {std::hypot(of.problem.regions[r].coefficient, of.problem.regions[r].loss),
          solution.results[0].throughput[r]};
}

/// Unit cubes in a row along x, each in a region of its own, in air and a uniform field.
inline TouchingCase cubes_in_a_row(int n, const std::vector<double>& permittivity) {
  SurfaceMesh mesh;
  TouchingCase result;
  result.problem = {.regions = {{"air", 1}}, .outside = "air", .field = {1, 0.3, 0.2}};
  const auto count = static_cast<int>(permittivity.size());
  for (int k = 0; k < count; ++k) {
    const std::string region = "region" + std::to_string(k), skin = "skin" + std::to_string(k),
                      face = "face" + std::to_string(k), next = "region" + std::to_string(k + 1);
    result.problem.regions.push_back({region, permittivity[k]});
    const int of_skin = add_group(mesh, skin.c_str());
    const bool is_last = k + 1 == count;
    const int of_face = is_last ? of_skin : add_group(mesh, face.c_str());
    add_box_faces(mesh, {k == 0 ? of_skin : -1, of_skin, of_skin, of_face, of_skin, of_skin}, n,
                  {double(k), 0, 0}, {1, 1, 1});
    result.problem.groups.push_back(between(skin.c_str(), region.c_str(), "air"));
    if (!is_last)
      result.problem.groups.push_back(between(face.c_str(), region.c_str(), next.c_str()));
  }
  result.mesh = with_shared_vertices(mesh);
  return result;
}

/// A ball of another permittivity inside of the first of some cubes, and a shell around all.
inline TouchingCase nested_cubes(int n, const std::vector<double>& permittivity, double core,
                                 double shell) {
  TouchingCase result = cubes_in_a_row(n, permittivity);
  const auto add_ball = [&](const char* group, int level, double radius, Vec3d centre) {
    const SurfaceMesh ball = sphere(level);
    const int of_ball = add_group(result.mesh, group),
              first = static_cast<int>(result.mesh.vertices.size());
    for (const Vec3d& x : ball.vertices) add_vertex(result.mesh, centre + radius * x);
    for (const auto& [a, b, c] : ball.triangles)
      add_triangle(result.mesh, first + a, first + b, first + c, of_ball);
  };
  const double length = static_cast<double>(permittivity.size());
  add_ball("core", 1, 0.3, {0.5, 0.5, 0.5});
  add_ball("shell", 2, length, {length / 2, 0.5, 0.5});
  // What was air is the shell's now.
  result.problem.regions[0].coefficient = shell;
  result.problem.regions.push_back({"core", core});
  result.problem.regions.push_back({"vacuum", 1});
  result.problem.outside = "vacuum";
  result.problem.groups.push_back(between("core", "core", "region0"));
  result.problem.groups.push_back(between("shell", "air", "vacuum"));
  return result;
}

/// Two slabs of thickness ½ between plates of 1 × 1 at 1 and 0 V, "lower" below, and walls that no
/// flux passes: C = ε₀/(½/ε₁ + ½/ε₂).
inline TouchingCase slabs_in_series(int n, double lower, double upper) {
  SurfaceMesh mesh;
  const int bottom = add_group(mesh, "bottom"), top = add_group(mesh, "top"),
            walls_below = add_group(mesh, "walls below"),
            walls_above = add_group(mesh, "walls above"), middle = add_group(mesh, "middle");
  add_box_faces(mesh, {walls_below, walls_below, bottom, walls_below, walls_below, middle}, n, {},
                {1, 1, 0.5});
  add_box_faces(mesh, {walls_above, walls_above, -1, walls_above, walls_above, top}, n, {0, 0, 0.5},
                {1, 1, 0.5});
  TouchingCase result{with_shared_vertices(mesh), {.outside = ""}};
  result.problem.regions = {{"lower", lower}, {"upper", upper}};
  result.problem.groups = {
      in("lower", at_potential("bottom", 1)), in("upper", at_potential("top", 0)),
      in("lower", neumann("walls below", constant(0))),
      in("upper", neumann("walls above", constant(0))), between("middle", "lower", "upper")};
  return result;
}

/// The same side by side, each ½ wide: C = ε₀ (ε₁ + ε₂)/2.
inline TouchingCase slabs_in_parallel(int n, double left, double right) {
  SurfaceMesh mesh;
  const int left_ends = add_group(mesh, "bottom left"),
            right_ends = add_group(mesh, "bottom right"), left_top = add_group(mesh, "top left"),
            right_top = add_group(mesh, "top right"), walls_left = add_group(mesh, "walls left"),
            walls_right = add_group(mesh, "walls right"), middle = add_group(mesh, "middle");
  add_box_faces(mesh, {walls_left, walls_left, left_ends, middle, walls_left, left_top}, n, {},
                {0.5, 1, 1});
  add_box_faces(mesh, {-1, walls_right, right_ends, walls_right, walls_right, right_top}, n,
                {0.5, 0, 0}, {0.5, 1, 1});
  TouchingCase result{with_shared_vertices(mesh), {.outside = ""}};
  result.problem.regions = {{"left", left}, {"right", right}};
  result.problem.groups = {in("left", part_of("bottom", "bottom left", 1)),
                           in("right", part_of("bottom", "bottom right", 1)),
                           in("left", part_of("top", "top left", 0)),
                           in("right", part_of("top", "top right", 0)),
                           in("left", neumann("walls left", constant(0))),
                           in("right", neumann("walls right", constant(0))),
                           between("middle", "left", "right")};
  return result;
}

/// A bar of 2/n cells' height that is sunk by half into the top of a unit cube of a dielectric, at
/// 1 V in air.
inline TouchingCase bar_in_substrate(int n, double permittivity) {
  SurfaceMesh mesh;
  const int skin = add_group(mesh, "skin"), below = add_group(mesh, "bar below"),
            above = add_group(mesh, "bar above");
  // Cells of side 1/(4n); the bar covers the middle half of the top.
  const int cells = 4 * n;
  const double h = 1.0 / cells;
  add_box_faces(mesh, {skin, skin, skin, skin, skin, -1}, cells, {}, {1, 1, 1});
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j) {
      const bool is_bar = i >= n && i < 3 * n && j >= n && j < 3 * n;
      if (!is_bar) add_grid(mesh, skin, 1, {i * h, j * h, 1}, {h, 0, 0}, {0, h, 0});
    }
  // Sides in n cells each way along z, 2n across.
  const auto box = [&](int metal, double low, bool has_bottom) {
    for (int k = 0; k < n; ++k) {
      const double z = low + k * h;
      for (int i = n; i < 3 * n; ++i) {
        add_grid(mesh, metal, 1, {i * h, n * h, z}, {h, 0, 0}, {0, 0, h});
        add_grid(mesh, metal, 1, {i * h, 3 * n * h, z}, {0, 0, h}, {h, 0, 0});
        add_grid(mesh, metal, 1, {n * h, i * h, z}, {0, 0, h}, {0, h, 0});
        add_grid(mesh, metal, 1, {3 * n * h, i * h, z}, {0, h, 0}, {0, 0, h});
      }
    }
    const double z = has_bottom ? low : low + n * h;
    for (int i = n; i < 3 * n; ++i)
      for (int j = n; j < 3 * n; ++j)
        has_bottom ? add_grid(mesh, metal, 1, {i * h, j * h, z}, {0, h, 0}, {h, 0, 0})
                   : add_grid(mesh, metal, 1, {i * h, j * h, z}, {h, 0, 0}, {0, h, 0});
  };
  box(below, 0.75, true);
  box(above, 1, false);
  TouchingCase result{with_shared_vertices(mesh), {.regions = {{"air", 1}}, .outside = "air"}};
  result.problem.regions.push_back({"substrate", permittivity});
  result.problem.groups = {between("skin", "substrate", "air"),
                           around("substrate", part_of("bar", "bar below", 1)),
                           around("air", part_of("bar", "bar above", 1))};
  return result;
}

/// A sphere in a uniform field, with an interface between its halves or without.
inline TouchingCase sphere_in_field(int level, bool is_cut, double lower, double upper) {
  SurfaceMesh mesh = sphere_of_halves(level);
  if (is_cut) {
    const int cut = add_group(mesh, "cut");
    // The upper half, flat.
    const std::size_t n = mesh.triangles.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (mesh.group_of[i] != 0) continue;
      int flat[3];
      for (int k = 0; k < 3; ++k) {
        Vec3d v = mesh.vertices[mesh.triangles[i][k]];
        flat[k] = add_vertex(mesh, {v.x, v.y, 0});
      }
      add_triangle(mesh, flat[0], flat[1], flat[2], cut);
    }
  }
  TouchingCase result{with_shared_vertices(mesh),
                      {.regions = {{"air", 1}, {"lower", lower}, {"upper", upper}},
                       .outside = "air",
                       .field = {0.2, 0, 1}}};
  if (!is_cut) result.problem.regions.erase(result.problem.regions.begin() + 1);
  result.problem.groups = {between("upper", "upper", "air"),
                           between("lower", is_cut ? "lower" : "upper", "air")};
  if (is_cut) result.problem.groups.push_back(between("cut", "lower", "upper"));
  return result;
}

/// A conducting sphere of radius 1 at 1 V, coated up to 2; the coat is cut in halves or not.
inline TouchingCase coated_sphere(int level, bool is_cut, double lower, double upper) {
  SurfaceMesh mesh = sphere_of_halves(level);
  mesh.groups = {{"upper", 1}, {"lower", 2}};
  for (Vec3d& v : mesh.vertices) v = 2.0 * v;
  const int above = add_group(mesh, "metal above"), below = add_group(mesh, "metal below");
  const SurfaceMesh inner = sphere_of_halves(level);
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& v : inner.vertices) add_vertex(mesh, v);
  for (std::size_t i = 0; i < inner.triangles.size(); ++i) {
    const auto& [a, b, c] = inner.triangles[i];
    add_triangle(mesh, first + a, first + b, first + c, inner.group_of[i] == 0 ? above : below);
  }
  if (is_cut) {
    const int cut = add_group(mesh, "cut");
    const int round = 4 << level, rings = std::max(1, round / 8);
    const auto at = [&](int k, int ring) {
      // The vertices of the spheres' equators lie at angles of their own.
      std::vector<Vec3d> equator;
      for (const Vec3d& v : inner.vertices)
        if (std::abs(v.z) < 1e-9) equator.push_back(v);
      std::sort(equator.begin(), equator.end(), [](const Vec3d& a, const Vec3d& b) {
        return std::atan2(a.y, a.x) < std::atan2(b.y, b.x);
      });
      return add_vertex(mesh, (1 + double(ring) / rings) * equator[k % equator.size()]);
    };
    for (int k = 0; k < round; ++k)
      for (int ring = 0; ring < rings; ++ring) {
        const int a = at(k, ring), b = at(k, ring + 1), c = at(k + 1, ring + 1),
                  d = at(k + 1, ring);
        add_triangle(mesh, a, b, c, cut);
        add_triangle(mesh, a, c, d, cut);
      }
  }
  TouchingCase result{
      with_shared_vertices(mesh),
      {.regions = {{"air", 1}, {"lower", lower}, {"upper", upper}}, .outside = "air"}};
  if (!is_cut) result.problem.regions.erase(result.problem.regions.begin() + 1);
  result.problem.groups = {between("upper", "upper", "air"),
                           between("lower", is_cut ? "lower" : "upper", "air"),
                           is_cut ? around("lower", part_of("metal", "metal below", 1))
                                  : around("upper", part_of("metal", "metal below", 1)),
                           around("upper", part_of("metal", "metal above", 1))};
  if (is_cut) result.problem.groups.push_back(between("cut", "lower", "upper"));
  return result;
}

}  // namespace fmbem::test
