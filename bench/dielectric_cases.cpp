#include <cmath>
#include <numbers>

#include "bench/problem_cases.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/grounded_ball.hpp"
#include "tests/unit/known_solutions.hpp"
#include "tests/unit/layered_sphere.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/problem_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

/// At 0.7 and 1.5, and between radii 0.8 and 1.
std::vector<Vec3d> points_about_shell() {
  std::vector<Vec3d> points;
  for (const Vec3d& x : sphere_points(50, 1))
    for (const double r : {0.6, 0.9, 1.5}) points.push_back(r * x);
  return points;
}

SurfaceMesh two_spheres(int level, double inner, double outer) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "inner", level, {inner, inner, inner});
  add_ellipsoid(mesh, "outer", level, {outer, outer, outer});
  return mesh;
}

Case shell(double permittivity) {
  const auto at = [=](int level) {
    BoundaryProblem problem;
    problem.regions = {{"air", 1}, {"shell", permittivity}};
    problem.outside = "air";
    problem.groups = {between("inner", "air", "shell"), between("outer", "shell", "air")};
    problem.field = {0, 0, 1};
    return compare(Solved(two_spheres(level, 0.8, 1), problem), points_about_shell(),
                   [=](Vec3d x) { return shell_in_field(permittivity, 0.8, x); });
  };
  char name[80];
  std::snprintf(name, sizeof name, "dielectric shell 0.8:1 in a field, ε = %g", permittivity);
  return {name, at};
}

/// Of 300 heights of the charge in radius, its rings as wide as far away.
SurfaceMesh wide_disk(int level) {
  SurfaceMesh mesh = disk(level);
  for (Vec3d& v : mesh.vertices) {
    const double r = norm(v);
    if (r > 0) v = std::sinh(r * std::asinh(300.0)) / r * v;
  }
  return mesh;
}

Case half_space(double below) {
  const auto at = [=](int level) {
    BoundaryProblem problem;
    problem.regions = {{"air", 1}, {"dielectric", below}};
    problem.outside = "air";
    GroupCondition border = between("disk", "dielectric", "air");
    border.truncated = true;
    problem.groups = {border};
    problem.sources = {{.at = {0, 0, 1}, .charge = natural_capacitance(1), .region = "air"}};
    std::vector<Vec3d> points;
    for (const Vec3d& x : sphere_points(100, 4))
      if (std::abs(x.z) > 0.25) points.push_back(2.0 * x);
    return compare(Solved(wide_disk(level), problem), points,
                   [=](Vec3d x) { return charge_over_dielectric(1, below, 1, x); });
  };
  char name[80];
  std::snprintf(name, sizeof name, "charge before a dielectric half space, ε = %g", below);
  return {name, at};
}

}  // namespace

std::vector<Case> dielectric_cases() {
  return {shell(2), shell(80), half_space(4), half_space(80)};
}

}  // namespace fmbem::bench
