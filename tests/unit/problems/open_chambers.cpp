// Dielectrics that touch in chambers whose Gauss's law is not put into the rows: those that a
// ground plane, a floating conductor or a Neumann surface without any potential bounds.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/reflected_surfaces.hpp"
#include "tests/unit/touching_surfaces.hpp"

namespace fmbem::test::open_chambers_tests {

namespace {

/// Calls body(lower, upper) with values of both halves.
template <class Body>
void for_contrasts(const Body& body) {
  for (const auto& [lower, upper] : {std::pair{3.0, 7.0}, {1e6, 1e2}, {1.0, 1e6}}) {
    CAPTURE(lower, upper);
    body(lower, upper);
  }
}

ProblemSolution solved_to(const TouchingCase& of, double tolerance) {
  LayerOptions options;
  options.solver.tolerance = tolerance;
  options.op.tolerance = std::max(tolerance, 1e-8);
  options.op.kind =
      tolerance < 1e-7 ? OperatorOptions::Choice::dense : OperatorOptions::Choice::fmm;
  options.op.max_leaf = 20;  // so that there is a far field
  const ProblemSolution solution = solve_problem(of.mesh, of.problem, options);
  CAPTURE(solution.solves[0].iterations);
  CHECK(solution.converged);
  CHECK(solution.solves[0].iterations <= 12);
  if (solution.op.kind == OperatorKind::fmm) CHECK(solution.op.levels >= 3);
  return solution;
}

std::size_t conductor_of(const ProblemSolution& solution, const std::string& name) {
  for (std::size_t c = 0; c < solution.conductors.size(); ++c)
    if (solution.conductors[c].name == name) return c;
  FAIL("there is no conductor " << name);
  return 0;
}

/// The mean potential of a group's panels, by area.
double mean_potential(const TouchingCase& of, const ProblemSolution& solution,
                      const std::string& group) {
  double sum = 0, area = 0;
  const auto& potential = solution.results[0].surface.potential;
  for (std::size_t i = 0; i < of.mesh.triangles.size(); ++i) {
    if (of.mesh.groups[of.mesh.group_of[i]].name != group) continue;
    const auto& [a, b, c] = of.mesh.triangles[i];
    const auto& v = of.mesh.vertices;
    const double own = norm(cross(v[b] - v[a], v[c] - v[a]));
    sum += own * potential[i];
    area += own;
  }
  return sum / area;
}

/// Errors against an exact value on two meshes, of a scale: small on the finer one, and smaller
/// than before; and the FMM to 1e-6 is what entries give to 1e-9.
template <class Make, class Value>
void check_value(const Make& make, const Value& value, double exact, double scale) {
  double error[2];
  for (const int k : {0, 1}) {
    const TouchingCase of = make(4 << k);
    error[k] = (value(of, solved_to(of, 1e-6)) - exact) / scale;
    if (k == 0) {
      const double by_entries = (value(of, solved_to(of, 1e-9)) - exact) / scale;
      CAPTURE(error[0], by_entries);
      CHECK(std::abs(error[0] - by_entries) < 5e-6);
    }
  }
  CAPTURE(error[0], error[1]);
  CHECK(std::abs(error[1]) < 0.02);
  CHECK(std::abs(error[1]) < 0.7 * std::abs(error[0]));
}

template <class Make, class Value>
void check_value(const Make& make, const Value& value, double exact) {
  check_value(make, value, exact, exact);
}

double in_series(double lower, double upper) { return 1 / (0.5 / lower + 0.5 / upper); }

}  // namespace

TEST_CASE("slabs that touch on a ground plane have their capacitance", "[long][accuracy]") {
  for_contrasts([](double lower, double upper) {
    const auto make = [&](int n) {
      TouchingCase of = slabs_in_series(n, lower, upper);
      // The lower plate is the plane.
      SurfaceMesh mesh;
      mesh.groups = of.mesh.groups;
      mesh.vertices = of.mesh.vertices;
      mesh.closed = true;
      for (std::size_t i = 0; i < of.mesh.triangles.size(); ++i) {
        const auto& [a, b, c] = of.mesh.triangles[i];
        if (of.mesh.groups[of.mesh.group_of[i]].name != "bottom")
          add_triangle(mesh, a, b, c, of.mesh.group_of[i] - 1);
      }
      mesh.groups.erase(mesh.groups.begin());
      of.mesh = mesh;
      of.problem.groups.erase(of.problem.groups.begin());
      of.problem.groups[0].conductor.value = 1;
      of.problem.planes = plane(2, PlaneKind::ground);
      return of;
    };
    const auto charge = [&](const TouchingCase&, const ProblemSolution& solution) {
      return solution.results[0].conductor_flux[conductor_of(solution, "top")];
    };
    check_value(make, charge, epsilon_0 * in_series(lower, upper));
  });
}

TEST_CASE("slabs that touch below a floating plate give it the potential of its charge") {
  for_contrasts([](double lower, double upper) {
    const double charge = 1e-12;
    const auto make = [&](int n) {
      TouchingCase of = slabs_in_series(n, lower, upper);
      of.problem.groups[0].conductor.value = 0;
      of.problem.groups[1] = in("upper", with_charge("top", charge));
      return of;
    };
    const auto volts = [&](const TouchingCase&, const ProblemSolution& solution) {
      const std::size_t top = conductor_of(solution, "top"),
                        bottom = conductor_of(solution, "bottom");
      // What it has is what was given, and the other plate has as much less.
      CHECK(solution.results[0].conductor_flux[top] == Approx(charge).epsilon(2e-6));
      CHECK(solution.results[0].conductor_flux[bottom] == Approx(-charge).epsilon(0.02));
      return solution.potential[0][top];
    };
    check_value(make, volts, charge / (epsilon_0 * in_series(lower, upper)));
  });
}

TEST_CASE("a floating sheet between slabs has the potential of both capacitances") {
  for_contrasts([](double lower, double upper) {
    const double charge = 1e-12;
    const auto make = [&](int n) {
      TouchingCase of = slabs_in_series(n, lower, upper);
      for (GroupCondition& group : of.problem.groups)
        if (group.group == "middle")
          group = in("lower", around("upper", with_charge("middle", charge)));
      return of;
    };
    const auto volts = [&](const TouchingCase&, const ProblemSolution& solution) {
      const std::size_t middle = conductor_of(solution, "middle");
      CHECK(solution.results[0].conductor_flux[middle] == Approx(charge).epsilon(1e-5));
      return solution.potential[0][middle];
    };
    // Of the volt below: a side of high permittivity leaves next to nothing of it.
    check_value(make, volts, (2 * lower + charge / epsilon_0) / (2 * (lower + upper)), 1);
  });
}

TEST_CASE("a current through bars that touch, without any potential given, has its voltage") {
  for_contrasts([](double lower, double upper) {
    const auto make = [&](int n) {
      TouchingCase of = slabs_in_series(n, lower, upper);
      of.problem.coefficient = BoundaryProblem::Coefficient::conductivity;
      of.problem.groups[0] = in("lower", neumann("bottom", constant(1)));
      of.problem.groups[1] = in("upper", neumann("top", constant(-1)));
      return of;
    };
    const auto volts = [&](const TouchingCase& of, const ProblemSolution& solution) {
      // What enters either half leaves it.
      const ProblemResult& result = solution.results[0];
      for (std::size_t r = 0; r < result.imbalance.size(); ++r)
        CHECK(std::abs(result.imbalance[r]) <= 1e-5 * result.throughput[r]);
      return mean_potential(of, solution, "bottom") - mean_potential(of, solution, "top");
    };
    check_value(make, volts, 0.5 / lower + 0.5 / upper);
  });
}

TEST_CASE("a floating conductor on interfaces is at the potential that gives its charge") {
  for (const double permittivity : {3.0, 1e4, 1e6}) {
    CAPTURE(permittivity);
    const std::vector<TouchingCase> cases{bar_in_substrate(1, permittivity),
                                          coated_sphere(2, true, permittivity, 2)};
    for (TouchingCase of : cases) {
      const double charge = solved_to(of, 1e-9).results[0].conductor_flux[0];
      for (GroupCondition& group : of.problem.groups)
        if (group.kind == GroupCondition::Kind::conductor) {
          group.conductor.has_charge = true;
          group.conductor.value = charge;
        }
      const ProblemSolution floating = solved_to(of, 1e-6);
      CHECK(floating.potential[0][0] == Approx(1).epsilon(1e-5));
      CHECK(floating.results[0].conductor_flux[0] == Approx(charge).epsilon(1e-5));
    }
  }
}

}  // namespace fmbem::test::open_chambers_tests
