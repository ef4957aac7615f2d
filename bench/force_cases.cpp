#include <cmath>
#include <vector>

#include "bench/problem_cases.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/forces.hpp"
#include "tests/unit/known_solutions.hpp"
#include "tests/unit/problem_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

/// Each group a body, in natural units.
Forces forces_of(const Solved& solved, bool are_interfaces, double behind) {
  const ProblemSolution& solution = solved.solution();
  const std::size_t n = solution.panels.size();
  std::vector<int> body_of(n);
  for (std::size_t i = 0; i < n; ++i)
    body_of[i] = solved.mesh().group_of[solution.panels.input_index[i]];
  std::vector<Body> bodies;
  for (const auto& group : solved.mesh().groups) bodies.push_back({group.name});
  const std::vector<char> is_interface(n, are_interfaces);
  const std::vector<double> inside(n, behind), outside(n, 1.0);
  return find_forces({.panels = {solution.panels, body_of, is_interface, inside, outside},
                      .sigma = solution.sigma[0],
                      .bodies = bodies,
                      .applied = solution.applied,
                      .scale_to_m = solution.scale_to_m});
}

/// With charges of 1 and 0.5 on radii of 1 and 2, like or unlike, 1 apart.
Case charged_spheres(double sign) {
  const auto at = [=](int level) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "small", level, {1, 1, 1});
    add_ellipsoid(mesh, "large", level, {2, 2, 2}, {0, 0, 4});
    BoundaryProblem problem;
    problem.groups = {with_charge("small", natural_capacitance(1)),
                      with_charge("large", 0.5 * sign * natural_capacitance(1))};
    const Solved solved(mesh, problem);
    const double exact = force_between_spheres(1, 2, 4, 1, 0.5 * sign) * natural_capacitance(1);
    const Forces forces = forces_of(solved, false, 1);
    return solved.with({{"force", std::abs(forces.bodies[1].force.z / exact - 1)},
                        {"by stress", std::abs(forces.bodies[1].stress_force.z / exact - 1)}});
  };
  return {sign > 0 ? "like charges on two spheres" : "unlike charges on two spheres", at};
}

/// 1 from the surface.
Case charge_and_sphere(double permittivity) {
  const auto at = [=](int level) {
    BoundaryProblem problem;
    problem.regions = {{"air", 1}, {"ball", permittivity}};
    problem.outside = "air";
    problem.groups = {between("sphere", "ball", "air")};
    problem.sources = {{.at = {0, 0, 2}, .charge = natural_capacitance(1)}};
    const Solved solved(sphere(level), problem);
    const double exact = force_on_charge_at_sphere(permittivity, 1, 2) * natural_capacitance(1);
    const Forces forces = forces_of(solved, true, permittivity);
    return solved.with({{"force on the charge", std::abs(forces.on_charges[0].z / exact - 1)},
                        {"force on the sphere", std::abs(-forces.bodies[0].force.z / exact - 1)}});
  };
  char name[80];
  std::snprintf(name, sizeof name, "charge before a dielectric sphere, ε = %g", permittivity);
  return {name, at};
}

}  // namespace

std::vector<Case> force_cases() {
  return {charged_spheres(1), charged_spheres(-1), charge_and_sphere(4), charge_and_sphere(80)};
}

}  // namespace fmbem::bench
