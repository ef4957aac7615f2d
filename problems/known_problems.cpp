#include "fmbem/problems/known_problems.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/refine.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/known_media.hpp"
#include "fmbem/problems/known_molecules.hpp"
#include "fmbem/problems/known_shapes.hpp"

namespace fmbem {
namespace {

using Cubes = std::vector<std::array<int, 3>>;

/// The outside of unit cubes at whole coordinates: faces that two of them share are none.
void add_cubes(SurfaceMesh& mesh, const Cubes& cubes) {
  for (const auto& cube : cubes)
    for (int axis = 0; axis < 3; ++axis)
      for (const int step : {-1, 1}) {
        auto beside = cube;
        beside[axis] += step;
        if (std::find(cubes.begin(), cubes.end(), beside) == cubes.end())
          add_face(mesh, cube, axis, step);
      }
}

SurfaceMesh of_cubes(const std::vector<Cubes>& bodies, int times) {
  SurfaceMesh mesh;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    add_group(mesh, "body " + std::to_string(k + 1));
    add_cubes(mesh, bodies[k]);
  }
  mesh.closed = true;
  return refine_uniformly(mesh, times);
}

SurfaceMesh fichera_corner(int refine) {
  Cubes cubes;
  for (int k = 0; k < 7; ++k) cubes.push_back({k % 2, k / 2 % 2, k / 4});
  return of_cubes({cubes}, refine + 1);
}

/// Bars of 1 by 1 by 5, two along x above two along y, with spaces of 1 between them.
SurfaceMesh bus_crossing(int refine) {
  std::vector<Cubes> bars(4);
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
      {"plate", "an open plate of an aspect X, 128 panels", 1},
      {"cell", "nine bars in three dielectrics, the lowest of permittivity X, 1034 panels", 1e4},
      {"shells", "nested dielectric spheres, the innermost of permittivity X, 384 panels", 1e4},
      {"kirkwood", "charges in a sphere of 4 angstrom, 128 panels"},
      {"molecule", "thirteen atoms, 512 panels"}};
  return all;
}

StudyProblem known_problem(const std::string& name, int refine) {
  FMBEM_REQUIRE(refine >= 0 && refine <= 8,
                "a known problem is refined 0 to 8 times, not " << refine);
  const auto [word, size] = parse(name);
  const auto surface = [](SurfaceMesh mesh) {
    StudyProblem problem;
    problem.mesh = std::move(mesh);
    return problem;
  };
  const std::map<std::string, std::function<StudyProblem()>> make{
      {"sphere",
       [&] {
         StudyProblem sphere = surface(unit_spheres({{}}, refine + 2));
         sphere.is_unit_sphere = true;
         return sphere;
       }},
      {"cube",
       [&] {
         return surface(of_cubes({{{0, 0, 0}}}, refine + 2));
       }},
      {"fichera", [&] { return surface(fichera_corner(refine)); }},
      {"bus", [&] { return surface(bus_crossing(refine)); }},
      {"bodies", [&] { return surface(many_bodies(refine)); }},
      {"two-spheres", [&, gap = size] { return surface(two_spheres(refine, gap)); }},
      {"sheets", [&, gap = size] { return surface(two_sheets(refine, gap)); }},
      {"plate", [&, aspect = size] { return surface(plate(refine, aspect)); }},
      {"cell", [&, permittivity = size] { return memory_cell(refine, permittivity); }},
      {"shells", [&, permittivity = size] { return nested_shells(refine, permittivity); }},
      {"kirkwood", [&] { return kirkwood_sphere(refine); }},
      {"molecule", [&] { return small_molecule(refine); }}};
  StudyProblem problem = make.at(word)();
  problem.mesh.file = name;
  return problem;
}

}  // namespace fmbem
