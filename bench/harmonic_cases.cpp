#include <cmath>
#include <numbers>

#include "bench/problem_cases.hpp"
#include "tests/unit/known_solutions.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

constexpr double ring = 2, tube = 0.8;

/// A body with points and solutions inside and outside of it.
struct Body {
  std::string name;
  std::function<SurfaceMesh(int level)> mesh;
  std::vector<Vec3d> points[2];  ///< inside, outside
  Harmonic solution[2];
};

Body ball() {
  Body body{"sphere",
            [](int level) { return sphere(level); },
            {},
            {field_of(charges_outside_unit_sphere()), field_of(charges_inside_unit_sphere())}};
  for (const Vec3d& x : sphere_points(100, 1)) {
    body.points[0].push_back(0.7 * x);
    body.points[1].push_back(1.5 * x);
  }
  return body;
}

Body torus_body() {
  Body body{
      "torus",
      [](int level) { return torus(2 << level, ring, tube); },
      {},
      {field_of(charges_outside_torus(ring, tube)), field_of(charges_inside_torus(ring, tube))}};
  Uniform uniform(2);
  for (int k = 0; k < 100; ++k) {
    const double u = uniform(0, 2 * std::numbers::pi), v = uniform(0, 2 * std::numbers::pi);
    for (const int side : {0, 1}) {
      const double s = tube * (side == 0 ? 0.5 : 1.6), r = ring + s * std::cos(v);
      body.points[side].push_back({r * std::cos(u), r * std::sin(u), s * std::sin(v)});
    }
  }
  return body;
}

enum class Data { dirichlet, neumann, robin };

/// The condition that the solution satisfies on a group whose region lies inside or outside:
/// Robin's is ε₀ ∂φ/∂n + ε₀ φ, with n out of the region.
GroupCondition condition_of(const std::string& group, Data data, const Harmonic& solution,
                            bool is_outside) {
  GroupCondition condition{.group = group};
  const double sign = is_outside ? -1 : 1;
  const auto flux = [=](const SurfacePoint& at) {
    return epsilon_0 * sign * dot(at.normal, solution.gradient(at.x));
  };
  const auto potential = [=](const SurfacePoint& at) { return solution.potential(at.x); };
  switch (data) {
    case Data::dirichlet:
      condition.kind = GroupCondition::Kind::dirichlet;
      condition.value = potential;
      break;
    case Data::neumann:
      condition.kind = GroupCondition::Kind::neumann;
      condition.value = flux;
      break;
    case Data::robin:
      condition.kind = GroupCondition::Kind::robin;
      condition.value = [=](const SurfacePoint& at) {
        return flux(at) + epsilon_0 * potential(at);
      };
      condition.coefficient = constant(epsilon_0);
      break;
  }
  (is_outside ? condition.outside : condition.inside) = "vacuum";
  return condition;
}

BoundaryProblem one_sided(bool is_outside) {
  BoundaryProblem problem;
  if (!is_outside) problem.outside = "";
  return problem;
}

Case one_condition(const Body& body, Data data, const std::string& what, bool is_outside) {
  const auto at = [=](int level) {
    const SurfaceMesh mesh = body.mesh(level);
    BoundaryProblem problem = one_sided(is_outside);
    problem.groups = {
        condition_of(mesh.groups[0].name, data, body.solution[is_outside], is_outside)};
    return compare(Solved(mesh, problem), body.points[is_outside],
                   body.solution[is_outside].potential, data == Data::neumann && !is_outside);
  };
  return {what + (is_outside ? " outside of a " : " inside of a ") + body.name, at};
}

/// Dirichlet's condition on the upper half, Neumann's on the lower one.
Case two_conditions(const Body& body, bool is_outside) {
  const auto at = [=](int level) {
    const SurfaceMesh mesh = split_in_two(body.mesh(level), [](Vec3d x) { return x.z > 0; });
    BoundaryProblem problem = one_sided(is_outside);
    problem.groups = {condition_of("upper", Data::dirichlet, body.solution[is_outside], is_outside),
                      condition_of("lower", Data::neumann, body.solution[is_outside], is_outside)};
    return compare(Solved(mesh, problem), body.points[is_outside],
                   body.solution[is_outside].potential);
  };
  return {std::string("Dirichlet above, Neumann below, ") + (is_outside ? "outside" : "inside") +
              " of a " + body.name,
          at};
}

Case opposite_halves(bool is_outside) {
  const auto at = [=](int level) {
    const SurfaceMesh mesh = split_in_two(sphere(level), [](Vec3d x) { return x.z > 0; });
    BoundaryProblem problem = one_sided(is_outside);
    for (const char* group : {"upper", "lower"}) {
      GroupCondition condition{.group = group, .kind = GroupCondition::Kind::dirichlet};
      condition.value = constant(group[0] == 'u' ? 1 : -1);
      (is_outside ? condition.outside : condition.inside) = "vacuum";
      problem.groups.push_back(condition);
    }
    return compare(Solved(mesh, problem), ball().points[is_outside], halves_at_opposite_potentials);
  };
  return {std::string("halves at 1 and -1, ") + (is_outside ? "outside" : "inside"), at};
}

}  // namespace

std::vector<Case> harmonic_cases() {
  std::vector<Case> cases;
  for (const Body& body : {ball(), torus_body()}) {
    for (const bool is_outside : {false, true}) {
      cases.push_back(one_condition(body, Data::dirichlet, "Dirichlet", is_outside));
      cases.push_back(one_condition(body, Data::neumann, "Neumann", is_outside));
      cases.push_back(one_condition(body, Data::robin, "Robin", is_outside));
      cases.push_back(two_conditions(body, is_outside));
    }
  }
  cases.push_back(opposite_halves(false));
  cases.push_back(opposite_halves(true));
  return cases;
}

}  // namespace fmbem::bench
