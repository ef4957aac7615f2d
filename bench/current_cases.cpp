#include <cmath>
#include <numbers>
#include <utility>

#include "bench/problem_cases.hpp"
#include "tests/unit/known_solutions.hpp"
#include "tests/unit/layered_sphere.hpp"
#include "tests/unit/problem_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

BoundaryProblem of_conductivities(std::vector<Region> regions) {
  BoundaryProblem problem;
  problem.coefficient = BoundaryProblem::Coefficient::conductivity;
  problem.regions = std::move(regions);
  problem.outside = "";
  return problem;
}

/// Between its ends.
Case resistance_of_bar() {
  const auto at = [](int level) {
    BoundaryProblem problem = of_conductivities({{"metal", 2}});
    problem.groups = {in("metal", at_potential("start", 0)), in("metal", at_potential("end", 1)),
                      in("metal", neumann("sides", constant(0)))};
    const Solved solved(bar(std::ldexp(1.0, -level), {4, 1, 1}), problem);
    return solved.with({{"conductance", std::abs(solved.flux_of("end") / (2 * 1 / 4.0) - 1)}});
  };
  return {"bar of 4 x 1 x 1", at};
}

Case spherical_shell() {
  const auto at = [](int level) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "inner", level, {1, 1, 1});
    add_ellipsoid(mesh, "outer", level, {2, 2, 2});
    BoundaryProblem problem = of_conductivities({{"metal", 2}});
    problem.groups = {around("metal", at_potential("inner", 1)),
                      in("metal", at_potential("outer", 0))};
    const Solved solved(mesh, problem);
    const double exact = 4 * std::numbers::pi * 2 / (1 - 0.5);
    return solved.with({{"conductance", std::abs(solved.flux_of("inner") / exact - 1)}});
  };
  return {"spherical shell 1:2", at};
}

/// A dipole in the innermost of spheres of 0.87, 0.92 and 1, at that part of its radius, with
/// conductivities 1 : 1/80 : 1. Potentials at panels of the outermost, against those of the sphere
/// above them.
Case head(double eccentricity, bool is_radial) {
  const Vec3d axis{0.48, 0.6, 0.64}, across{0.8, 0, -0.6};
  const Vec3d place = 0.87 * eccentricity * axis, moment = is_radial ? axis : across;
  const auto at = [=](int level) {
    SurfaceMesh mesh;
    const SurfaceMesh unit = icosphere(level);
    std::vector<Vec3d> above;
    for (const auto& [name, radius] :
         {std::pair{"brain", 0.87}, std::pair{"skull", 0.92}, std::pair{"scalp", 1.0}}) {
      const int group = add_group(mesh, name), first = static_cast<int>(mesh.vertices.size());
      for (const Vec3d& v : unit.vertices) add_vertex(mesh, radius * v);
      for (const auto& [a, b, c] : unit.triangles)
        add_triangle(mesh, first + a, first + b, first + c, group);
    }
    const double skull = 1.0 / 80;
    BoundaryProblem problem = of_conductivities({{"brain", 1}, {"skull", skull}, {"scalp", 1}});
    problem.groups = {between("brain", "brain", "skull"), between("skull", "skull", "scalp"),
                      in("scalp", neumann("scalp", constant(0)))};
    problem.sources = {{.kind = ProblemSource::Kind::dipole,
                        .at = place,
                        .moment = 4 * std::numbers::pi * moment}};
    const Solved solved(mesh, problem);
    const LayeredSphere exact{{0.87, 0.92, 1}, {1, skull, 1, 0}};
    std::vector<double> found, known;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      if (mesh.group_of[t] != 2) continue;
      const auto& [a, b, c] = mesh.triangles[t];
      const Vec3d x = mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c];
      found.push_back(solved.result().surface.potential[t]);
      known.push_back(exact.of_dipole(place, moment, x / norm(x)).real());
    }
    const auto [rdm, mag] = likeness(found, known);
    return solved.with({{"RDM", rdm}, {"MAG - 1", std::abs(mag - 1)}});
  };
  char name[100];
  std::snprintf(name, sizeof name, "dipole in a head, %s, eccentricity %g",
                is_radial ? "radial" : "tangential", eccentricity);
  return {name, at, 2};
}

}  // namespace

std::vector<Case> current_cases() {
  std::vector<Case> cases{resistance_of_bar(), spherical_shell()};
  for (const double eccentricity : {0.5, 0.8})
    for (const bool is_radial : {true, false}) cases.push_back(head(eccentricity, is_radial));
  return cases;
}

}  // namespace fmbem::bench
