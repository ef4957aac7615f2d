#include <cmath>
#include <vector>

#include "bench/problem_cases.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "tests/unit/grounded_ball.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/problem_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

/// A unit ball at 1 V, its centre at the same distance from each plane that there is.
Case ball_before(const std::string& name, double distance, std::array<Plane, 3> planes) {
  const Vec3d centre = distance * Vec3d{1, 1, 1};
  const GroundedBall exact(1, centre, planes);
  std::vector<Vec3d> points;
  for (const Vec3d& x : sphere_points(50, 1)) points.push_back(centre + 1.2 * x);
  const auto at = [=](int level) {
    BoundaryProblem problem;
    for (int axis = 0; axis < 3; ++axis)
      if (planes[axis] != Plane::none)
        problem.planes.at[axis] =
            SymmetryPlane{planes[axis] == Plane::ground ? PlaneKind::ground : PlaneKind::mirror};
    problem.groups = {at_potential("sphere", 1)};
    const Solved solved(sphere(level, 1, centre), problem);
    const double c = solved.flux_of("sphere") / natural_capacitance(1);
    Result result = compare(solved, points, [&](Vec3d x) { return exact.potential(x); });
    result.errors.push_back({"capacitance", std::abs(c / exact.capacitance() - 1)});
    return result;
  };
  return {name, at};
}

}  // namespace

std::vector<Case> plane_cases() {
  constexpr Plane none = Plane::none, ground = Plane::ground, mirror = Plane::mirror;
  return {
      ball_before("ball 0.5 over a ground plane", 1.5, {none, none, ground}),
      ball_before("ball in the corner of three ground planes", 1.5, {ground, ground, ground}),
      ball_before("ball between a ground plane and two mirrors", 1.5, {ground, mirror, mirror})};
}

}  // namespace fmbem::bench
