#include "bench/bodies.hpp"
#include "bench/problem_cases.hpp"
#include "tests/unit/known_solutions.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {
namespace {

using namespace fmbem::test;

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

Case one_condition(const KnownBody& body, Data data, const std::string& what, bool is_outside) {
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
Case two_conditions(const KnownBody& body, bool is_outside) {
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
  for (const KnownBody& body : {ball(), ring()}) {
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
