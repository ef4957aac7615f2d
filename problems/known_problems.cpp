#include "fmbem/problems/known_problems.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/refine.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr Vec3d along_x{1, 0, 0}, along_y{0, 1, 0}, along_z{0, 0, 1};

void add_triangle(SurfaceMesh& mesh, std::array<Vec3d, 3> corners) {
  std::array<int, 3> triangle{};
  for (int k = 0; k < 3; ++k) {
    // Corners that other triangles have: refinement keeps what is shared.
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

/// A parallelogram of two triangles, its normal along u × v.
void add_square(SurfaceMesh& mesh, Vec3d corner, Vec3d u, Vec3d v) {
  add_triangle(mesh, {corner, corner + u, corner + u + v});
  add_triangle(mesh, {corner, corner + u + v, corner + v});
}

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

/// The outside of unit cubes at whole coordinates: faces that two of them share are none.
void add_cubes(SurfaceMesh& mesh, const std::vector<std::array<int, 3>>& cubes) {
  const std::array<Vec3d, 3> axes{along_x, along_y, along_z};
  for (const auto& cube : cubes)
    for (int axis = 0; axis < 3; ++axis)
      for (const int step : {-1, 1}) {
        auto beside = cube;
        beside[axis] += step;
        if (std::find(cubes.begin(), cubes.end(), beside) != cubes.end()) continue;
        Vec3d corner{double(cube[0]), double(cube[1]), double(cube[2])};
        Vec3d u = axes[(axis + 1) % 3], v = axes[(axis + 2) % 3];
        if (step > 0)
          corner += axes[axis];
        else
          std::swap(u, v);
        add_square(mesh, corner, u, v);
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

SurfaceMesh of_cubes(const std::vector<std::vector<std::array<int, 3>>>& bodies, int times) {
  SurfaceMesh mesh;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    add_group(mesh, "body " + std::to_string(k + 1));
    add_cubes(mesh, bodies[k]);
  }
  mesh.closed = true;
  return refine_uniformly(mesh, times);
}

SurfaceMesh fichera_corner(int refine) {
  std::vector<std::array<int, 3>> cubes;
  for (int k = 0; k < 7; ++k) cubes.push_back({k % 2, k / 2 % 2, k / 4});
  return of_cubes({cubes}, refine + 1);
}

/// Bars of 1 by 1 by 5, two along x above two along y, with spaces of 1 between them.
SurfaceMesh bus_crossing(int refine) {
  std::vector<std::vector<std::array<int, 3>>> bars(4);
  for (int along = 0; along < 5; ++along)
    for (int bar = 0; bar < 2; ++bar) {
      bars[bar].push_back({along, 1 + 2 * bar, 2});
      bars[2 + bar].push_back({1 + 2 * bar, along, 0});
    }
  return of_cubes(bars, refine + 1);
}

SurfaceMesh many_bodies(int refine) {
  std::vector<Vec3d> centres;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 5; ++i) centres.push_back(2.5 * Vec3d{double(i), double(j), double(k)});
  return unit_spheres(centres, refine + 1);
}

SurfaceMesh two_spheres(int refine, double gap) {
  const double half = 1 + gap / 2;
  return unit_spheres({{-half, 0, 0}, {half, 0, 0}}, refine + 2);
}

SurfaceMesh two_sheets(int refine, double gap) {
  SurfaceMesh mesh;
  for (const double z : {0.0, gap}) {
    add_group(mesh, z > 0 ? "upper" : "lower");
    add_square(mesh, {0, 0, z}, along_x, along_y);
  }
  return refine_uniformly(mesh, refine + 3);
}

SurfaceMesh plate(int refine, double aspect) {
  SurfaceMesh mesh;
  add_group(mesh, "plate");
  add_square(mesh, {}, aspect * along_x, along_y);
  return refine_uniformly(mesh, refine + 3);
}

/// "two-spheres:1e-3" in parts.
std::pair<std::string, double> parse(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  std::string names;
  for (const KnownProblem& each : known_problems()) {
    names += (names.empty() ? "" : ", ") + each.name;
    if (each.name != name) continue;
    if (colon == std::string::npos) return {name, each.size.value_or(0)};
    const auto size = parse_number(std::string_view(text).substr(colon + 1));
    FMBEM_REQUIRE(each.size && size && *size >= 1e-8 && *size <= 1e6,
                  "the problem " << text << ": "
                                 << (each.size ? "the size must be between 1e-8 and 1e6"
                                               : "there is no size to choose"));
    return {name, *size};
  }
  throw InputError("there is no problem \"" + text + "\", but " + names);
}

}  // namespace

const std::vector<KnownProblem>& known_problems() {
  static const std::vector<KnownProblem> all{
      {"sphere", "the unit sphere, 128 panels, as barbagroup/inexact-gmres has it"},
      {"cube", "the unit cube, 192 panels"},
      {"fichera", "a cube without an eighth of it, 192 panels"},
      {"bus", "two bars across two others, 704 panels"},
      {"bodies", "a hundred spheres in a lattice, 3200 panels"},
      {"two-spheres", "two unit spheres at a gap X, 256 panels", 1e-2},
      {"sheets", "two open unit squares at a distance X, 256 panels", 1e-5},
      {"plate", "an open plate of an aspect X, 128 panels", 1}};
  return all;
}

SurfaceMesh known_problem_mesh(const std::string& name, int refine) {
  FMBEM_REQUIRE(refine >= 0 && refine <= 8,
                "a known problem is refined 0 to 8 times, not " << refine);
  const auto [word, size] = parse(name);
  const std::map<std::string, std::function<SurfaceMesh()>> make{
      {"sphere", [&] { return unit_spheres({{}}, refine + 2); }},
      {"cube",
       [&] {
         return of_cubes({{{0, 0, 0}}}, refine + 2);
       }},
      {"fichera", [&] { return fichera_corner(refine); }},
      {"bus", [&] { return bus_crossing(refine); }},
      {"bodies", [&] { return many_bodies(refine); }},
      {"two-spheres", [&, gap = size] { return two_spheres(refine, gap); }},
      {"sheets", [&, gap = size] { return two_sheets(refine, gap); }},
      {"plate", [&, aspect = size] { return plate(refine, aspect); }}};
  SurfaceMesh mesh = make.at(word)();
  mesh.file = name;
  return mesh;
}

bool is_unit_sphere(const std::string& name) { return name == "sphere"; }

}  // namespace fmbem
