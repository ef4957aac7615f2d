// Dielectrics that touch, and conductors on interfaces: Gauss's law at high contrasts.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/reflected_surfaces.hpp"
#include "tests/unit/touching_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::touching_tests {

namespace {

/// By the FMM to 1e-6, in leaves so small that there is a far field, and to 1e-6.
ProblemSolution solved(const TouchingCase& of) {
  LayerOptions options;
  options.solver.tolerance = options.op.tolerance = 1e-6;
  options.op.kind = OperatorOptions::Choice::fmm;
  options.op.max_leaf = 20;
  ProblemSolution solution = solve_problem(of.mesh, of.problem, options);
  CHECK(solution.op.levels >= 3);
  return solution;
}
/// By entries, to 1e-9.
ProblemSolution solved_exactly(const TouchingCase& of) {
  LayerOptions options;
  options.solver.tolerance = 1e-9;
  options.op.kind = OperatorOptions::Choice::dense;
  return solve_problem(of.mesh, of.problem, options);
}

/// What leaves an interface on one side enters on the other, to rounding, and the fluxes of groups
/// are those of exact products to a few tolerances of what flows through the region of the lower
/// permittivity there, and of the applied field in that times `of_applied`.
void check_interfaces(const TouchingCase& of, const ProblemSolution& solution,
                      const ProblemSolution& exact, double of_applied) {
  for (const GroupCondition& condition : of.problem.groups) {
    if (condition.kind != GroupCondition::Kind::interface) continue;
    std::size_t g = 0;
    while (of.mesh.groups[g].name != condition.group) ++g;
    const Flow least =
        std::min(flow_in(of, exact, *condition.inside), flow_in(of, exact, *condition.outside));
    const double size =
        least.amount + of_applied * epsilon_0 * least.permittivity * norm(of.problem.field);
    for (std::size_t k = 0; k < exact.parts(); ++k) {
      const ProblemResult &result = solution.results[k], &expected = exact.results[k];
      CAPTURE(condition.group, k);
      CHECK(std::abs(result.flux_inside[g] + result.flux_outside[g]) < 1e-13 * size);
      CHECK(std::abs(result.flux_inside[g] - expected.flux_inside[g]) / size < 5e-6);
    }
  }
}

/// Densities are those of exact products to a few tolerances, and what enters each region leaves
/// it, of the flux there and of that of the applied field in its permittivity times `of_applied`.
void check(const TouchingCase& of, int most_iterations, double of_applied = 0) {
  const ProblemSolution solution = solved(of), exact = solved_exactly(of);
  CAPTURE(solution.solves[0].iterations, exact.solves[0].iterations);
  CHECK(solution.converged);
  CHECK(exact.converged);
  CHECK(solution.solves[0].iterations <= most_iterations);
  CHECK(relative_difference(solution.sigma[0], exact.sigma[0]) < 5e-6);
  const ProblemResult& result = solution.results[0];
  for (std::size_t r = 0; r < result.imbalance.size(); ++r) {
    CAPTURE(r, result.imbalance[r], result.throughput[r]);
    const double applied =
        of_applied * epsilon_0 * of.problem.regions[r].coefficient * norm(of.problem.field);
    CHECK(std::abs(result.imbalance[r]) <= 2e-6 * (result.throughput[r] + applied));
  }
  check_interfaces(of, solution, exact, of_applied);
  for (std::size_t c = 0; c < result.conductor_flux.size(); ++c)
    CHECK(result.conductor_flux[c] == Approx(exact.results[0].conductor_flux[c]).epsilon(1e-6));
}

}  // namespace

TEST_CASE("cubes of high contrasts that share faces keep their digits") {
  check(cubes_in_a_row(4, {1e6, 1e3}), 7);
  check(cubes_in_a_row(4, {1e6, 1e-4}), 7);
  check(cubes_in_a_row(3, {1e3, 1e6, 1e-2}), 7);
  check(cubes_in_a_row(2, {1e6, 1e3, 10, 1e4, 1, 1e5}), 8);
}

TEST_CASE("dielectrics that touch keep their digits around others and inside of them") {
  for (const double core : {1e-3, 1.0, 1e5})
    for (const double shell : {1.0, 50.0, 1e3, 1e5}) {
      CAPTURE(core, shell);
      // Inside of a shell next to nothing is left of the applied field, of which the residual is
      // measured. The shell's area is 16π.
      check(nested_cubes(2, {1e6, 1e3}, core, shell), 8, 50);
    }
}

TEST_CASE("half of the cubes that touch are at a mirror what they are in the whole") {
  for (const int axis : {1, 2}) {
    CAPTURE(axis);
    TouchingCase half = cubes_in_a_row(4, {1e6, 1e3});
    half.mesh = part_above(half.mesh, axis, 0.5);
    half.problem.field[axis] = 0;  // or else the plane is no mirror
    TouchingCase whole = half;
    std::vector<double> sign;
    whole.mesh =
        with_shared_vertices(with_mirrored(half.mesh, plane(axis, PlaneKind::mirror, 0.5), sign));
    half.problem.planes = plane(axis, PlaneKind::mirror, 0.5);
    check(half, 14);
    std::vector<double> of_whole = solved_exactly(whole).results[0].surface.potential;
    of_whole.resize(half.mesh.triangles.size());  // images come last
    CHECK(relative_difference(solved(half).results[0].surface.potential, of_whole) < 5e-6);
  }
}

TEST_CASE("a common complex factor of all permittivities changes no potential") {
  TouchingCase real = cubes_in_a_row(3, {1e6, 1e3}), complex = real;
  for (Region& region : complex.problem.regions) region.loss = 0.7 * region.coefficient;
  const ProblemSolution a = solved_exactly(real), b = solved(complex), c = solved_exactly(complex);
  CHECK(b.converged);
  CHECK(c.converged);
  CHECK(b.solves[0].iterations <= 8);
  const auto potential = [](const ProblemSolution& of, int part) {
    return of.results[part].surface.potential;
  };
  CHECK(relative_difference(potential(b, 0), potential(a, 0)) < 5e-6);
  CHECK(relative_difference(potential(c, 0), potential(a, 0)) < 1e-8);
  for (const double imaginary : potential(b, 1))
    CHECK(std::abs(imaginary) < 5e-6 * std::abs(potential(a, 0)[0]));
}

TEST_CASE("a lossy sphere is the same if an interface without a contrast cuts it") {
  const auto with_loss = [](bool is_cut, double lower, double upper) {
    TouchingCase result = sphere_in_field(2, is_cut, lower, upper);
    for (Region& region : result.problem.regions)
      if (region.name != "air") region.loss = 2 * region.coefficient;
    return result;
  };
  for (const double permittivity : {1e-3, 5.0, 1e5}) {
    CAPTURE(permittivity);
    const ProblemSolution whole = solved_exactly(with_loss(false, permittivity, permittivity)),
                          cut = solved(with_loss(true, permittivity, permittivity));
    CHECK(cut.converged);
    // Of the amplitude; at high permittivities the imaginary part is next to nothing.
    std::vector<double> of_cut, of_whole;
    for (const int part : {0, 1}) {
      const auto &all = cut.charge_density[part], &few = whole.charge_density[part];
      of_cut.insert(of_cut.end(), all.begin(), all.begin() + 128);
      of_whole.insert(of_whole.end(), few.begin(), few.end());
    }
    CHECK(cut.solves[0].iterations <= 6);
    CHECK(relative_difference(of_cut, of_whole) < 5e-6);
  }
  // High contrasts between both halves, with phases of their own.
  TouchingCase halves = with_loss(true, 1e6, 1e2);
  halves.problem.regions[1].loss = 0;
  check(halves, 8);
  // One of two halves of the same real part.
  TouchingCase lossy_half = with_loss(true, 1e6, 1e6);
  lossy_half.problem.regions[1].loss = 0;
  check(lossy_half, 8);
}

TEST_CASE("what flows through an interface without a contrast is what enters") {
  for (const double permittivity : {1.0, 1e4}) {
    TouchingCase of = cubes_in_a_row(3, {100, permittivity});
    of.problem.regions[0].coefficient = permittivity;
    check(of, 8);
  }
}

TEST_CASE("slabs that touch between plates have their capacitance at any contrast",
          "[long][accuracy]") {
  for (const auto& [lower, upper] :
       {std::pair(1e4, 1.0), {1.0, 1e6}, {1e6, 1e2}, {3.0, 7.0}, {1e-4, 1.0}}) {
    CAPTURE(lower, upper);
    check(slabs_in_series(4, lower, upper), 12);
    check(slabs_in_parallel(4, lower, upper), 12);
    const double in_series = epsilon_0 / (0.5 / lower + 0.5 / upper),
                 in_parallel = epsilon_0 * (lower + upper) / 2;
    double error[2][2];
    for (const int k : {0, 1}) {
      const TouchingCase series = slabs_in_series(4 << k, lower, upper),
                         parallel = slabs_in_parallel(4 << k, lower, upper);
      error[0][k] = solved(series).results[0].conductor_flux[0] / in_series - 1;
      error[1][k] = solved(parallel).results[0].conductor_flux[0] / in_parallel - 1;
    }
    for (const auto& of : error) {
      CAPTURE(of[0], of[1]);
      CHECK(std::abs(of[1]) < 0.02);
      CHECK(std::abs(of[1]) < 0.7 * std::abs(of[0]));
    }
  }
}

TEST_CASE("cubes that touch a void keep their digits") {
  TouchingCase of = cubes_in_a_row(3, {1e6, 1, 1e3});
  of.problem.regions.erase(of.problem.regions.begin() + 2);
  std::erase_if(of.problem.groups, [](const GroupCondition& g) {
    return g.group == "face0" || g.group == "skin1" || g.group == "face1";
  });
  of.problem.groups.push_back(in("region0", neumann("face0", constant(0))));
  of.problem.groups.push_back(around("air", neumann("skin1", constant(0))));
  of.problem.groups.push_back(around("region2", neumann("face1", constant(0))));
  check(of, 8);
}

TEST_CASE("slabs that touch below a wall that leaks have their fluxes") {
  // As if the wall were a plate of the thickness that its coefficient says, at 0 V.
  for (const auto& [lower, upper] : {std::pair(1e6, 1e2), {1.0, 1e4}}) {
    CAPTURE(lower, upper);
    double error[2];
    for (const int k : {0, 1}) {
      TouchingCase of = slabs_in_series(4 << k, lower, upper);
      const double leak = 2 * epsilon_0 * std::min(lower, upper);
      of.problem.groups[1] = in("upper", robin("top", constant(leak), constant(0)));
      if (k == 0) check(of, 12);
      const double exact = epsilon_0 / (0.5 / lower + 0.5 / upper + epsilon_0 / leak);
      error[k] = solved(of).results[0].conductor_flux[0] / exact - 1;
    }
    CAPTURE(error[0], error[1]);
    CHECK(std::abs(error[1]) < 0.02);
    CHECK(std::abs(error[1]) < 0.7 * std::abs(error[0]));
  }
}

TEST_CASE("a conductor that is sunk into a dielectric of high contrast has its charge") {
  for (const double permittivity : {1e-4, 1e4, 1e6}) check(bar_in_substrate(1, permittivity), 12);
}

TEST_CASE("a sphere is the same if an interface without a contrast cuts it") {
  const ProblemSolution whole = solved_exactly(sphere_in_field(2, false, 1e6, 1e6)),
                        cut = solved(sphere_in_field(2, true, 1e6, 1e6));
  // Panels of a mesh that is cut come in another order.
  const auto charges = [](const ProblemSolution& solution) {
    std::vector<double> result = solution.charge_density[0];
    result.resize(128);
    return result;
  };
  CHECK(cut.converged);
  CHECK(relative_difference(charges(cut), charges(whole)) < 1e-5);
  CHECK(cut.solves[0].iterations <= 6);
  check(sphere_in_field(2, true, 1e6, 1e3), 7);
}

TEST_CASE("a coated conductor is the same if an interface cuts the coat") {
  for (const double permittivity : {1e-4, 4.0, 1e6}) {
    CAPTURE(permittivity);
    const double whole =
        solved(coated_sphere(2, false, permittivity, permittivity)).results[0].conductor_flux[0];
    const ProblemSolution cut = solved(coated_sphere(2, true, permittivity, permittivity));
    CHECK(cut.converged);
    CHECK(cut.results[0].conductor_flux[0] == Approx(whole).epsilon(2e-5));
  }
  check(coated_sphere(2, true, 1e6, 1e2), 12);
}

}  // namespace fmbem::test::touching_tests
