// Problems with currents and charges that are given between media, complex permittivities, other
// formulations than the single layer, and forces, against closed forms.
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/problem_forces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/force_forms.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/layered_sphere.hpp"
#include "tests/unit/problem_forms.hpp"

namespace fmbem::test::formulations_tests {

namespace {

constexpr double pi = std::numbers::pi;
const LayerOptions tight{.solver = {.tolerance = 1e-8}};

BoundaryProblem conducting(std::vector<Region> regions, std::string outside) {
  return {.coefficient = BoundaryProblem::Coefficient::conductivity,
          .regions = std::move(regions),
          .outside = std::move(outside)};
}

SurfaceMesh nested_spheres(int level, const std::vector<double>& radius) {
  SurfaceMesh mesh;
  const char* const names[] = {"inner", "outer"};
  for (std::size_t k = 0; k < radius.size(); ++k)
    add_ellipsoid(mesh, names[k], level, radius[k] * Vec3d{1, 1, 1});
  mesh.closed = true;
  return mesh;
}

std::complex<double> of_parts(const ProblemSolution& solution,
                              std::vector<double> ProblemResult::*values, std::size_t i) {
  return {(solution.results[0].*values)[i], (solution.results[1].*values)[i]};
}

std::vector<BodyOfGroups> body_of(const char* group, std::optional<Vec3d> about = {}) {
  std::vector<BodyOfGroups> bodies(1);
  bodies[0].body.name = "the body";
  bodies[0].body.about = about;
  bodies[0].groups.emplace_back(group);
  return bodies;
}

double harmonic(Vec3d x) { return x.x * x.y + 0.5 * (x.z * x.z - x.x * x.x); }
double outer_harmonic(Vec3d x) { return harmonic(x) / std::pow(norm(x), 5); }

}  // namespace

TEST_CASE("a bar that a current drives has its resistance") {
  BoundaryProblem problem = conducting({{"copper", 6e7}}, "");
  const double resistance = 3 / (6e7 * 1e-3);  // of a bar of 3 by 1 by 1 mm
  SurfaceMesh mesh = bar(0.25, {3, 1, 1});
  mesh.scale_to_m = 1e-3;
  const GroupCondition sides = in("copper", neumann("sides", constant(0)));
  const auto between_ends = [&](GroupCondition start, GroupCondition end) {
    problem.groups = {in("copper", std::move(start)), in("copper", std::move(end)), sides};
    return solve_problem(mesh, problem, tight);
  };
  const ProblemSolution by_potential =
      between_ends(at_potential("start", 1), at_potential("end", 0));
  const double ohm = 1 / by_potential.results[0].conductor_flux[0];
  CHECK(ohm == Approx(resistance).epsilon(0.05));

  const ProblemSolution grounded = between_ends(with_charge("start", 10), at_potential("end", 0));
  CHECK(grounded.potential[0][0] == Approx(10 * ohm).epsilon(1e-5));
  CHECK(grounded.results[0].conductor_flux[0] == Approx(10).epsilon(1e-6));
  CHECK(grounded.driven == std::vector<int>{0});
  CHECK(grounded.driven_solves[0].converged);
  CHECK(grounded.solves.size() == 1);

  // Known up to a constant, which makes the mean of the sides 0.
  const ProblemSolution floating = between_ends(with_charge("start", 10), with_charge("end", -10));
  CHECK(floating.potential[0][0] - floating.potential[0][1] == Approx(10 * ohm).epsilon(1e-5));
  // Diagonals of panels at the ends differ, so halves are equal to what the mesh is good for.
  CHECK(floating.potential[0][0] == Approx(5 * ohm).epsilon(1e-2));
  CHECK(floating.results[0].conductor_flux[1] == Approx(-10).epsilon(1e-4));
  const ProblemField field =
      problem_field(mesh, floating, 0, std::vector<Vec3d>{{1.5, 0.5, 0.5}, {0.75, 0.5, 0.5}});
  CHECK(std::abs(field.potential[0]) < 1e-2 * 10 * ohm);
  CHECK(field.potential[1] == Approx(2.5 * resistance).epsilon(0.05));
  CHECK_THROWS_WITH(between_ends(with_charge("start", 10), with_charge("end", -9)),
                    contains("make the Neumann data and given charges compatible"));
}

TEST_CASE("a spherical shell that a current drives has its resistance") {
  // From the surface of a ball to a wall around: (1/1 − 1/2)/(4πκ).
  const double resistance = 0.5 / (4 * pi * 0.3);
  double error[2];
  for (const int level : {2, 3}) {
    BoundaryProblem problem = conducting({{"tissue", 0.3}}, "");
    problem.groups = {around("tissue", with_charge("inner", 2)),
                      in("tissue", with_charge("outer", -2))};
    const ProblemSolution solution = solve_problem(nested_spheres(level, {1, 2}), problem, tight);
    const double volts = solution.potential[0][0] - solution.potential[0][1];
    error[level - 2] = std::abs(volts / (2 * resistance) - 1);
    CHECK(solution.results[0].energy == Approx(2 * volts).epsilon(1e-5));
  }
  CAPTURE(error[0], error[1]);
  CHECK(error[1] < 1e-2);
  CHECK(std::log2(error[0] / error[1]) > 1.6);
}

TEST_CASE("a charged shell between two media, and one of several conductors") {
  // Water inside takes no field; what is outside of it gives the potential, r from the centre.
  BoundaryProblem problem{.regions = {{"water", 80}, {"oil", 2}}, .outside = "oil"};
  problem.groups = {in("water", around("oil", with_charge("sphere", 8 * pi * epsilon_0)))};
  const SurfaceMesh mesh = sphere(3);
  const ProblemSolution solution = solve_problem(mesh, problem, tight);
  CHECK(solution.potential[0][0] == Approx(1).epsilon(1e-2));
  CHECK(solution.results[0].conductor_flux[0] == Approx(8 * pi * epsilon_0).epsilon(1e-6));
  const ProblemField field =
      problem_field(mesh, solution, 0, std::vector<Vec3d>{{0, 0.1, 0.2}, {0, 0, 2}});
  CHECK(field.potential[0] == Approx(solution.potential[0][0]).epsilon(3e-3));
  CHECK(field.potential[1] == Approx(0.5).epsilon(1e-2));

  // Two such shells with a source in one, by right-hand sides and their superposition.
  SurfaceMesh two;
  add_ellipsoid(two, "a", 2, {1, 1, 1});
  add_ellipsoid(two, "b", 2, {1, 1, 1}, {0, 0, 3});
  two.closed = true;
  problem.groups = {in("water", around("oil", with_charge("a", 3e-10))),
                    in("water", around("oil", with_charge("b", -1e-10)))};
  problem.sources = {{.at = {0.1, 0, 0}, .charge = 2e-10}};
  const ProblemSolution both = solve_problem(two, problem, tight);
  CHECK(both.results[0].conductor_flux[0] == Approx(3e-10).epsilon(1e-5));
  CHECK(both.results[0].conductor_flux[1] == Approx(-1e-10).epsilon(1e-5));
  problem.groups[0].conductor = {.value = both.potential[0][0]};
  problem.groups[1].conductor = {.value = both.potential[0][1]};
  const ProblemSolution again = solve_problem(two, problem, tight);
  CHECK(again.results[0].conductor_flux[0] == Approx(3e-10).epsilon(1e-5));
  CHECK(again.results[0].conductor_flux[1] == Approx(-1e-10).epsilon(1e-5));
}

TEST_CASE("a conductor in a lossy coat, by potential and by charge") {
  using Value = std::complex<double>;
  const Value permittivity{4, -3};
  BoundaryProblem problem{.regions = {{"coat", 4, 3}, {"air", 1}}, .outside = "air"};
  const GroupCondition surface = between("outer", "coat", "air");
  const SurfaceMesh mesh = nested_spheres(3, {1, 2});
  problem.groups = {around("coat", at_potential("inner", 1)), surface};
  ProblemSolver solver(mesh, problem, tight);
  solver.solve();
  solver.solve_basis();
  const ProblemSolution& solution = solver.solution();
  REQUIRE(solution.results.size() == 4);
  CHECK(solution.results[1].name == "the problem, imaginary part");
  const Value exact = 4 * pi * epsilon_0 / (0.5 / permittivity + 0.5),
              charge = of_parts(solution, &ProblemResult::conductor_flux, 0);
  CHECK(std::abs(charge / exact - 1.0) < 1.3e-2);
  const Value energy{solution.results[0].energy, solution.results[1].energy};
  CHECK(std::abs(energy / (0.5 * charge) - 1.0) < 1e-6);
  CHECK(basis_matrix(solution, 3)(0, 0) == Approx(charge.imag()).epsilon(1e-6));
  for (const ProblemResult& result : solution.results)
    for (std::size_t r = 0; r < 2; ++r)
      CHECK(std::abs(result.imbalance[r]) < 1e-5 * result.throughput[r]);

  problem.groups[0].conductor = {.has_charge = true, .value = std::abs(exact)};
  const ProblemSolution floating = solve_problem(mesh, problem, tight);
  const Value volts{floating.potential[0][0], floating.potential[1][0]};
  CHECK(std::abs(volts * charge / std::abs(exact) - 1.0) < 1e-5);
}

TEST_CASE("a lossy bar with charges at its ends") {
  // V = Q 3/(ε₀ε) as the bar is 3 by 1 by 1; electrodes have the bar on one side alone.
  using Value = std::complex<double>;
  const Value permittivity{2, -1};
  BoundaryProblem problem{.regions = {{"gel", 2, 1}}, .outside = ""};
  problem.groups = {in("gel", with_charge("start", epsilon_0)), in("gel", at_potential("end", 0)),
                    in("gel", neumann("sides", constant(0)))};
  const ProblemSolution solution = solve_problem(bar(0.25, {3, 1, 1}), problem, tight);
  const Value volts{solution.potential[0][0], solution.potential[1][0]};
  CHECK(std::abs(volts * permittivity / 3.0 - 1.0) < 0.05);
  CHECK(std::abs(of_parts(solution, &ProblemResult::conductor_flux, 0) / epsilon_0 - 1.0) < 1e-6);
}

TEST_CASE("a lossy core in a lossy coat, in a field and with a charge in it") {
  const LayeredSphere exact{{1, 2}, {{5, -9}, {3, -0.5}, {2, 0}}};
  BoundaryProblem problem{.regions = {{"core", 5, 9}, {"coat", 3, 0.5}, {"oil", 2}},
                          .outside = "oil"};
  problem.groups = {between("inner", "core", "coat"), between("outer", "coat", "oil")};
  std::vector<Vec3d> points;
  for (const double r : {0.6, 1.5, 3.0})
    for (const Vec3d& x : points_at(r, 10)) points.push_back(x);
  const Vec3d place{0, 0.2, 0.3};
  for (const bool has_charge : {false, true}) {
    problem.field = has_charge ? Vec3d{} : Vec3d{0, 0, 1};
    problem.sources.clear();
    if (has_charge) problem.sources = {{.at = place, .charge = 4 * pi * epsilon_0}};
    double error[2] = {}, largest = 0;
    for (const int level : {2, 3}) {
      const SurfaceMesh mesh = nested_spheres(level, {1, 2});
      const ProblemSolution solution = solve_problem(mesh, problem, tight);
      const ProblemField real = problem_field(mesh, solution, 0, points),
                         imaginary = problem_field(mesh, solution, 1, points);
      for (std::size_t k = 0; k < points.size(); ++k) {
        const std::complex<double> known =
            has_charge ? exact.of_charge(place, points[k]) : exact.in_uniform_field(points[k]);
        const std::complex<double> found{real.potential[k], imaginary.potential[k]};
        error[level - 2] = larger_error(error[level - 2], std::abs(found - known));
        largest = larger_error(largest, std::abs(known));
      }
      CHECK(std::isnan(solution.results[0].energy) == !has_charge);
    }
    CAPTURE(has_charge, error[0], error[1], largest);
    CHECK(error[1] < 0.02 * largest);
    CHECK(std::log2(error[0] / error[1]) > 1.6);
  }
}

TEST_CASE("harmonics in and around a sphere by each formulation", "[long][accuracy]") {
  for (const ProblemFormulation formulation :
       {ProblemFormulation::single, ProblemFormulation::direct, ProblemFormulation::second_kind})
    for (const bool is_outside : {false, true}) {
      BoundaryProblem problem{.regions = {{"water", 80}},
                              .outside = is_outside ? "water" : "",
                              .formulation = formulation};
      const auto exact = is_outside ? outer_harmonic : harmonic;
      GroupCondition wall =
          dirichlet("sphere", [=](const SurfacePoint& at) { return exact(at.x / norm(at.x)); });
      problem.groups = {is_outside ? around("water", wall) : in("water", wall)};
      FieldError error[2];
      double flux = 0;
      for (const int level : {3, 4}) {
        const SurfaceMesh mesh = sphere(level);
        const ProblemSolution solution = solve_problem(mesh, problem, tight);
        error[level - 3] = field_error(mesh, solution, points_at(is_outside ? 1.5 : 0.7), exact);
        const SurfaceValues& surface = solution.results[0].surface;
        flux = 0;
        for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
          const auto& [a, b, c] = mesh.triangles[i];
          const Vec3d x = (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3.0;
          const double known = 80 * epsilon_0 * harmonic(x / norm(x)) * (is_outside ? 3 : 2),
                       found = (is_outside ? surface.outside : surface.inside)[i];
          const double error_here = std::abs(found - known) / (80 * epsilon_0);
          flux = std::isnan(error_here) ? error_here : std::max(flux, error_here);
        }
      }
      CAPTURE(static_cast<int>(formulation), is_outside, error[0].potential, error[1].potential,
              flux);
      CHECK(error[1].potential < 3e-3);
      CHECK(std::log2(error[0].potential / error[1].potential) > 1.6);
      if (formulation == ProblemFormulation::second_kind)
        CHECK(std::isnan(flux));
      else if (formulation == ProblemFormulation::direct)
        CHECK(flux < 0.2);
    }
}

TEST_CASE("charges and sources by the other formulations") {
  for (const ProblemFormulation formulation :
       {ProblemFormulation::direct, ProblemFormulation::second_kind}) {
    // Two spheres at potentials, beside those of the single layer.
    SurfaceMesh two;
    add_ellipsoid(two, "a", 3, {1, 1, 1});
    add_ellipsoid(two, "b", 3, {2, 2, 2}, {0, 0, 4});
    two.closed = true;
    BoundaryProblem problem{.outside = "vacuum", .formulation = formulation};
    problem.groups = {around("vacuum", at_potential("a", 1)),
                      around("vacuum", at_potential("b", -2))};
    ProblemSolver solver(two, problem, tight);
    solver.solve();
    solver.solve_basis();
    const SquareMatrix exact = two_spheres_exactly(1, 2, 4);
    const std::vector<double>& charge = solver.solution().results[0].conductor_flux;
    for (std::size_t i = 0; i < 2; ++i)
      CHECK(charge[i] / (4 * pi * epsilon_0) ==
            Approx(exact(i, 0) - 2 * exact(i, 1)).epsilon(0.02));
    CHECK(basis_matrix(solver.solution(), 1)(0, 1) / (4 * pi * epsilon_0) ==
          Approx(exact(0, 1)).epsilon(0.03));

    // A charge in a grounded hollow sphere has an image.
    const SurfaceMesh mesh = sphere(3);
    BoundaryProblem hollow{.outside = "", .formulation = formulation};
    hollow.groups = {in("vacuum", dirichlet("sphere", constant(0)))};
    hollow.sources = {{.at = {0, 0, 0.5}, .charge = 4 * pi * epsilon_0}};
    const ProblemSolution solution = solve_problem(mesh, hollow, tight);
    const auto potential = [](Vec3d x) {
      return 1 / norm(x - Vec3d{0, 0, 0.5}) - 2 / norm(x - Vec3d{0, 0, 2});
    };
    CHECK(field_error(mesh, solution, points_at(0.7, 20), potential).potential < 0.03);
  }
}

TEST_CASE("what other formulations cannot do is refused") {
  const SurfaceMesh mesh = sphere(1), halves = sphere_of_halves(1);
  const auto refused = [](const SurfaceMesh& of, BoundaryProblem problem, const char* saying) {
    problem.formulation = ProblemFormulation::direct;
    CHECK_THROWS_WITH(solve_problem(of, problem, {}), contains(saying));
  };
  BoundaryProblem problem{.regions = {{"water", 80}, {"oil", 2}}, .outside = "oil"};
  const GroupCondition upper = in("water", dirichlet("upper", constant(1)));
  problem.groups = {at_potential("sphere", 1)};
  refused(mesh, problem, "has regions on both sides");
  problem.groups = {around("oil", with_charge("sphere", 1))};
  refused(mesh, problem, "whose charge is given");
  problem.groups = {between("sphere", "water", "oil")};
  refused(mesh, problem, "another condition");
  problem.outside = "";
  problem.groups = {upper, in("water", neumann("lower", constant(0)))};
  refused(halves, problem, "the group \"lower\" has another condition");
  SurfaceMesh two;
  add_ellipsoid(two, "a", 1, {1, 1, 1});
  add_ellipsoid(two, "b", 1, {1, 1, 1}, {3, 0, 0});
  two.closed = true;
  problem.groups = {in("oil", dirichlet("a", constant(1))),
                    in("water", dirichlet("b", constant(1)))};
  refused(two, problem, "bounds the region \"water\" besides \"oil\"");
  problem.groups = {in("water", dirichlet("sphere", constant(1)))};
  problem.regions[0].loss = 1;
  refused(mesh, problem, "permittivities are complex");
  LayerOptions on_gpu;
  on_gpu.op.processor = Processor::gpu;
  CHECK_THROWS_WITH(solve_problem(mesh, problem, on_gpu), contains("use the backend cpu"));
}

TEST_CASE("forces of problems on spheres and charges") {
  const double natural = 4 * pi * epsilon_0;
  SurfaceMesh two;
  add_ellipsoid(two, "small", 3, {1, 1, 1});
  add_ellipsoid(two, "large", 3, {2, 2, 2}, {0, 0, 4});
  two.closed = true;
  BoundaryProblem problem;
  problem.groups = {at_potential("small", 1), at_potential("large", -1)};
  const ProblemSolution solution = solve_problem(two, problem, tight);
  const Forces forces = problem_forces(two, solution, 0);
  REQUIRE(forces.bodies.size() == 2);
  CHECK(forces.bodies[1].force.z / natural ==
        Approx(force_of_spheres(1, 2, 4, 1, -1)).epsilon(0.05));
  CHECK(forces.bodies[0].force.z == Approx(-forces.bodies[1].force.z).epsilon(1e-5));
  CHECK(forces.bodies[1].stress_force.z / natural ==
        Approx(force_of_spheres(1, 2, 4, 1, -1)).epsilon(0.1));
  // Of one body with its moment about the other's centre.
  const Forces asked = problem_forces(two, solution, 0, body_of("large", Vec3d{1, 0, 0}));
  REQUIRE(asked.bodies.size() == 1);
  CHECK(asked.bodies[0].torque.y == Approx(asked.bodies[0].force.z).epsilon(1e-3));

  BoundaryProblem with_ball{.regions = {{"ball", 4}, {"air", 1}}, .outside = "air"};
  with_ball.groups = {between("sphere", "ball", "air")};
  with_ball.sources.push_back({.at = {0, 0, 2}, .charge = natural});
  const SurfaceMesh ball = sphere(3);
  const ProblemSolution dielectric = solve_problem(ball, with_ball, tight);
  const Forces between_both = problem_forces(ball, dielectric, 0);
  const double exact = force_at_dielectric_sphere(4, 1, 2) * natural;
  CHECK(between_both.on_charges[0].z == Approx(exact).epsilon(0.05));
  CHECK(between_both.bodies[0].force.z == Approx(-between_both.on_charges[0].z).epsilon(1e-4));

  const auto refused = [&](const SurfaceMesh& mesh, const ProblemSolution& of, const char* saying,
                           const std::vector<BodyOfGroups>& bodies = {}) {
    CHECK_THROWS_WITH(problem_forces(mesh, of, 0, bodies), contains(saying));
  };
  refused(two, solution, "no group \"nobody\"", body_of("nobody"));
  problem.formulation = ProblemFormulation::direct;
  problem.groups = {around("vacuum", at_potential("small", 1)),
                    around("vacuum", at_potential("large", -1))};
  refused(two, solve_problem(two, problem, {}), "single layer");
  // A shell that conducts, and what is inside of it: the charge's image, which the shell gives
  // back.
  BoundaryProblem in_shell{.regions = {{"cavity", 1}, {"air", 1}}, .outside = "air"};
  in_shell.groups = {at_potential("sphere", 0)};
  in_shell.groups[0].inside = "cavity";
  in_shell.groups[0].outside = "air";
  in_shell.sources.push_back({.at = {0, 0, 0.4}, .charge = natural});
  const Forces of_shell = problem_forces(ball, solve_problem(ball, in_shell, tight), 0);
  const double pull = 0.4 / std::pow(1 - 0.16, 2) * natural;
  CHECK(of_shell.on_charges[0].z == Approx(pull).epsilon(0.05));
  CHECK(of_shell.bodies[0].force.z == Approx(-pull).epsilon(0.05));
  CHECK(of_shell.bodies[0].stress_force.z == Approx(-pull).epsilon(0.1));
  in_shell.regions[0].coefficient = 4;
  refused(
      ball, solve_problem(ball, in_shell, {}),
      "no force on the body \"sphere\" is defined, as it has a medium of relative permittivity 1 "
      "around it and encloses one of 4: leave it out");

  with_ball.regions[0].loss = 1;
  refused(ball, solve_problem(ball, with_ball, {}), "real permittivities");
  with_ball.regions[0].loss = 0;
  with_ball.sources = {{.kind = ProblemSource::Kind::dipole, .at = {0, 0, 2}, .moment = {0, 0, 1}}};
  refused(ball, solve_problem(ball, with_ball, {}), "dipoles and lines");
  BoundaryProblem walls{.outside = ""};
  walls.groups = {in("vacuum", at_potential("sphere", 1))};
  const ProblemSolution of_walls = solve_problem(ball, walls, {});
  CHECK(problem_forces(ball, of_walls, 0).bodies.empty());
  refused(ball, of_walls, "no region around it", body_of("sphere"));
}

}  // namespace fmbem::test::formulations_tests
