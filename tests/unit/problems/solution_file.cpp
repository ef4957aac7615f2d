#include "fmbem/problems/solution_file.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fmbem/meshes/read_file.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/export_system.hpp"
#include "fmbem/problems/problem_regions.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "fmbem/problems/superpose.hpp"
#include "fmbem/problems/write_spice.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/meshes/temporary_folder.hpp"
#include "tests/unit/problem_forms.hpp"

namespace fmbem::test::solution_file_tests {

namespace {

/// Two bodies off the origin, in millimetres, one of which is open.
SurfaceMesh cup_and_ball() {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ball, solid", 1, {1, 2, 0.5});
  add_grid(mesh, add_group(mesh, "plate \xc3\xa9"), 3, {4, 0, 0.1}, {1, 0, 0.2}, {0, 2, 0});
  mesh.vertex_tags.resize(mesh.vertices.size());
  mesh.triangle_tags.resize(mesh.triangles.size());
  std::iota(mesh.vertex_tags.begin(), mesh.vertex_tags.end(), 10);
  std::iota(mesh.triangle_tags.begin(), mesh.triangle_tags.end(), 700);
  mesh.file = "cup.msh";
  mesh.unit = "mm";
  mesh.scale_to_m = 1e-3;
  return mesh;
}

/// A charge and a field beside one floating conductor.
ConductorSolution solve_in_field(const SurfaceMesh& mesh) {
  ConductorOptions options;
  options.applied.uniform = {1, -2, 0.5};
  options.applied.charges.push_back({{5, 5, 5}, 1e-12, 2});
  options.floating = {"plate \xc3\xa9"};
  return solve_conductors(mesh, options, {{1.5, 1e-13}});
}

}  // namespace

TEST_CASE("a solution comes back from its file to the bit") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = cup_and_ball();
  const std::vector<Vec3d> places{{0, 0, 3}, {4.5, 1, 0.3}, {-7, 8, 1}};
  for (const ConductorSolution& solution :
       {solve_in_field(mesh), ConductorSolution(solve_capacitance(mesh, {}))}) {
    save_solution(folder.file("kept.h5"), mesh, solution, "{\"a\": 1}");
    CHECK(is_solution_file(folder.file("kept.h5")));
    const KeptSolution kept = load_solution(folder.file("kept.h5"));
    CHECK(kept.report == "{\"a\": 1}");
    CHECK(kept.mesh.triangles == mesh.triangles);
    CHECK(kept.mesh.vertex_tags == mesh.vertex_tags);
    CHECK(kept.mesh.triangle_tags == mesh.triangle_tags);
    CHECK(kept.mesh.unit == "mm");
    CHECK(kept.mesh.groups[1].name == mesh.groups[1].name);
    CHECK(kept.solution.sigma == solution.sigma);
    CHECK(kept.solution.potential == solution.potential);
    CHECK(conductor_charges(kept.mesh, kept.solution) == conductor_charges(mesh, solution));
    for (std::size_t problem = 0; problem < solution.sigma.size(); ++problem) {
      const Field before = conductor_field(solution, problem, places),
                  after = conductor_field(kept.solution, problem, places);
      CHECK(before.potential == after.potential);
      for (std::size_t k = 0; k < places.size(); ++k)
        for (int axis = 0; axis < 3; ++axis) CHECK(before.e[k][axis] == after.e[k][axis]);
    }
  }
}

namespace {

void check_same(const Field& before, const Field& after, double tolerance = 0) {
  for (std::size_t k = 0; k < before.potential.size(); ++k) {
    const auto same = [&](double a, double b) {
      return std::isnan(a) ? std::isnan(b) : std::abs(a - b) <= tolerance;
    };
    CHECK(same(before.potential[k], after.potential[k]));
    for (int axis = 0; axis < 3; ++axis) CHECK(same(before.e[k][axis], after.e[k][axis]));
  }
}

/// A conductor and a coated one, with sources of all kinds, over a ground plane and beside a
/// mirror, in millimetres.
SurfaceMesh before_planes() {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ball", 2, {1, 1, 1}, {3, 0, 2});
  add_ellipsoid(mesh, "core", 1, {0.5, 0.6, 0.7}, {6, 0, 2});
  add_ellipsoid(mesh, "coat", 2, {1, 1, 1}, {6, 0, 2});
  mesh.vertex_tags.resize(mesh.vertices.size());
  mesh.triangle_tags.resize(mesh.triangles.size());
  mesh.closed = true;
  mesh.file = "planes.msh";
  mesh.unit = "mm";
  mesh.scale_to_m = 1e-3;
  return mesh;
}

BoundaryProblem problem_before_planes() {
  BoundaryProblem problem{
      .regions = {{"air", 1}, {"oxide", 3.9}},
      .outside = "air",
      .groups = {around("air", at_potential("ball", 2)),
                 around("oxide", with_charge("core", 1e-15)), between("coat", "oxide", "air")}};
  using Kind = ProblemSource::Kind;
  problem.sources = {{.at = {1, 1, 1}, .charge = 1e-15},
                     {.kind = Kind::dipole, .at = {2, 3, 1}, .moment = {1e-18, 2e-18, 0}},
                     {.kind = Kind::line, .at = {1, -2, 1}, .to = {2, -3, 4}, .charge = 1e-15}};
  problem.field = {0, 0, 100};
  problem.planes.at[0] = {PlaneKind::mirror, 0.5};
  problem.planes.at[2] = {PlaneKind::ground, -0.5};
  return problem;
}

}  // namespace

TEST_CASE("a kept problem has the same fields to the bit: media, sources and planes") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = before_planes();
  const ProblemSolution solution = solve_problem(mesh, problem_before_planes());
  save_solution(folder.file("kept.h5"), mesh, solution, "{}");
  const KeptSolution kept = load_solution(folder.file("kept.h5"));
  // In air, in the coat, in metal, and beyond both planes.
  const std::vector<Vec3d> places{{4.5, 0, 2}, {6, 0.8, 2},  {3, 0.1, 2}, {0.6, 7, 0},
                                  {-1, 0, 2},  {4, 0, -0.7}, {2, 0, -0.4}};
  check_same(problem_field(mesh, solution, 0, places),
             problem_field(kept.mesh, kept.solution, 0, places));
  CHECK(problem_field(kept.mesh, kept.solution, 0, places).region ==
        std::vector<int>{0, 1, no_region, 0, no_region, no_region, 0});
  CHECK(kept.solution.potential == solution.potential);
  CHECK(kept.solution.results[0].conductor_flux == solution.results[0].conductor_flux);
  CHECK(kept.solution.results[0].surface.potential == solution.results[0].surface.potential);
  CHECK_FALSE(has_unit_voltages(kept.solution));
}

TEST_CASE("a kept problem whose potential is known up to a constant, with conductivities") {
  const TemporaryFolder folder;
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "wall", 2, {1, 2, 0.5});
  mesh.vertex_tags.resize(mesh.vertices.size());
  mesh.triangle_tags.resize(mesh.triangles.size());
  mesh.closed = true;
  const Panels panels = make_panels(mesh);
  double area = 0, sum = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double x = panels.centroid(i).x;  // the origin is that of the mesh
    area += panels.area(i);
    sum += panels.area(i) * x * x;
  }
  const double mean = sum / area;
  const BoundaryProblem problem{
      .coefficient = BoundaryProblem::Coefficient::conductivity,
      .regions = {{"water", 5}},
      .outside = "",
      .groups = {in("water", neumann("wall", [mean](const SurfacePoint& at) {
                      return at.x.x * at.x.x - mean;
                    }))}};
  const ProblemSolution solution = solve_problem(mesh, problem);
  save_solution(folder.file("kept.h5"), mesh, solution, "{}");
  const KeptSolution kept = load_solution(folder.file("kept.h5"));
  const std::vector<Vec3d> places{{0, 0, 0.5}, {0.3, -0.2, 0.1}, {0, 0, 2}};
  CHECK(solution.results[0].constant[0] != 0);
  CHECK(std::abs(solution.results[0].constant[0]) > 1e-3);
  CHECK(kept.solution.problem.conducts());
  check_same(problem_field(mesh, solution, 0, places),
             problem_field(kept.mesh, kept.solution, 0, places));
}

TEST_CASE("a kept problem with complex permittivities has both parts to the bit") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = before_planes();
  BoundaryProblem problem = problem_before_planes();
  problem.regions[1].loss = 0.7;
  const ProblemSolution solution = solve_problem(mesh, problem);
  REQUIRE(solution.results.size() == 2);
  REQUIRE_FALSE(solution.imaginary_applied.empty());
  save_solution(folder.file("kept.h5"), mesh, solution, "{}");
  const KeptSolution kept = load_solution(folder.file("kept.h5"));
  REQUIRE(kept.solution.results.size() == 2);
  CHECK(kept.solution.problem.has_losses());
  const std::vector<Vec3d> places{{4.5, 0, 2}, {6, 0.8, 2}, {3, 0.1, 2}, {0.6, 7, 0}};
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(kept.solution.results[k].is_imaginary == (k == 1));
    check_same(problem_field(mesh, solution, k, places),
               problem_field(kept.mesh, kept.solution, k, places));
  }
  CHECK_FALSE(has_unit_voltages(kept.solution));
}

TEST_CASE("a kept problem of another formulation has its double layer to the bit") {
  const TemporaryFolder folder;
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ball", 2, {1, 2, 0.5});
  add_ellipsoid(mesh, "other", 1, {1, 1, 1}, {4, 0, 0});
  mesh.vertex_tags.resize(mesh.vertices.size());
  mesh.triangle_tags.resize(mesh.triangles.size());
  mesh.closed = true;
  for (const ProblemFormulation formulation :
       {ProblemFormulation::direct, ProblemFormulation::second_kind}) {
    BoundaryProblem problem{.groups = {around("vacuum", at_potential("ball", 2)),
                                       around("vacuum", at_potential("other", -1))}};
    problem.formulation = formulation;
    const ProblemSolution solution = solve_problem(mesh, problem);
    REQUIRE(solution.dipoles.size() == 1);
    save_solution(folder.file("kept.h5"), mesh, solution, "{}");
    const KeptSolution kept = load_solution(folder.file("kept.h5"));
    CHECK(kept.solution.problem.formulation == formulation);
    CHECK(kept.solution.dipoles == solution.dipoles);
    const std::vector<Vec3d> places{{0, 0, 2}, {2.4, 0.3, 0.1}, {4, 0, 0}};
    check_same(problem_field(mesh, solution, 0, places),
               problem_field(kept.mesh, kept.solution, 0, places));
  }
}

TEST_CASE("a kept problem with its basis serves for any voltages") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = before_planes();
  BoundaryProblem problem = problem_before_planes();
  problem.groups[1] = around("oxide", at_potential("core", -1));
  LayerOptions options;
  options.solver.tolerance = 1e-12;
  ProblemSolver solver(mesh, problem, options);
  solver.solve();
  solver.solve_basis();
  save_solution(folder.file("kept.h5"), mesh, solver.solution(), "{}");
  const KeptSolution kept = load_solution(folder.file("kept.h5"));
  REQUIRE(has_unit_voltages(kept.solution));
  const std::vector<double> voltages{-5, 7};
  const ProblemSolution sum = superpose(kept.solution, voltages);
  problem.groups[0] = around("air", at_potential("ball", -5));
  problem.groups[1] = around("oxide", at_potential("core", 7));
  const ProblemSolution direct = solve_problem(mesh, problem, options);
  const std::vector<Vec3d> places{{4.5, 0, 2}, {6, 0.8, 2}, {0.6, 7, 0}};
  check_same(problem_field(mesh, direct, 0, places), problem_field(mesh, sum, 0, places), 1e-6);
  for (int c = 0; c < 2; ++c)
    CHECK(std::abs(sum.results[0].conductor_flux[c] / direct.results[0].conductor_flux[c] - 1) <
          1e-8);
  CHECK_FALSE(refusal([&] { superpose(direct, voltages); }).empty());
}

TEST_CASE("a damaged or cut solution is refused wherever that is") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = cup_and_ball();
  save_solution(folder.file("kept.h5"), mesh, solve_capacitance(mesh, {}), "{}");
  const std::string whole = read_file(folder.file("kept.h5"));
  std::mt19937_64 random(3);
  for (int k = 0; k < 400; ++k) {
    std::string bad = whole;
    const std::size_t at = k < 100 ? k : random() % whole.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    const std::string file = folder.write("bad.h5", bad);
    CHECK_THAT(refusal([&] { load_solution(file); }), contains(file));
  }
  for (int k = 0; k < 50; ++k) {
    const std::string file =
        folder.write("cut.h5", whole.substr(0, 1 + random() % (whole.size() - 1)));
    CHECK_THAT(refusal([&] { load_solution(file); }), contains(file));
  }
}

TEST_CASE("problems of unit voltages add up to those of any") {
  const SurfaceMesh mesh = cup_and_ball();
  ConductorOptions options;
  options.solver.tolerance = 1e-12;
  const CapacitanceSolution units = solve_capacitance(mesh, options);
  const std::vector<double> voltages{2, -3.5};
  const ConductorSolution sum = superpose(units, voltages),
                          direct = solve_conductors(mesh, options, {voltages});
  CHECK(has_unit_voltages(units));
  CHECK_FALSE(has_unit_voltages(direct));
  CHECK_FALSE(refusal([&] { superpose(direct, voltages); }).empty());
  CHECK_FALSE(refusal([&] { superpose(units, std::vector<double>{1}); }).empty());
  const auto charges = conductor_charges(mesh, sum), expected = conductor_charges(mesh, direct);
  for (int i = 0; i < 2; ++i) CHECK(std::abs(charges[0][i] / expected[0][i] - 1) < 1e-9);
  CHECK(sum.potential == std::vector<std::vector<double>>{voltages});
}

TEST_CASE("names of nets become nodes that SPICE tells apart") {
  using Names = std::vector<std::string>;
  CHECK(spice_names({"VDD", "vdd", "a b", "a.b", "0", "gnd", "GND", "", "x\ny", "\xc3\xa9"}) ==
        Names{"VDD", "vdd_2", "a_b", "a_b_2", "n_0", "n_gnd", "n_GND_2", "n_", "x_y", "__"});
}

TEST_CASE("a system that cannot be exported leaves no folder behind") {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = cup_and_ball();
  ConductorOptions options;
  options.inspect = [&](const SolvedSystem& system) {
    export_system(folder.file("system"), system, [](double) { throw InputError("no more of it"); });
  };
  CHECK(refusal([&] { solve_capacitance(mesh, options); }) == "no more of it");
  CHECK(folder.entries() == 0);
}

}  // namespace fmbem::test::solution_file_tests
