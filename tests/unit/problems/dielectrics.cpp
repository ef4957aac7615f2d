// Conductors and dielectrics against closed forms.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::dielectrics_tests {

namespace {

constexpr double unit_capacitance = 4 * std::numbers::pi * epsilon_0;  // of 1 m

/// A sphere of a dielectric, of radius 1.
ConductorOptions sphere_of(double permittivity) {
  ConductorOptions options;
  options.interfaces = {"sphere"};
  options.media = {{"sphere", permittivity, 1}};
  options.solver.tolerance = 1e-8;
  return options;
}

double order(double coarse, double fine) { return std::log2(coarse / fine); }

}  // namespace

TEST_CASE("a coated conducting sphere has its capacitance at any contrast") {
  for (const double permittivity : {1e-4, 0.5, 2.0, 80.0, 1e4, 1e6}) {
    double error[2];
    for (const int level : {2, 3}) {
      SurfaceMesh mesh;
      add_ellipsoid(mesh, "conductor", level, {1, 1, 1});
      add_ellipsoid(mesh, "coat", level, {2, 2, 2});
      ConductorOptions options;
      options.interfaces = {"coat"};
      options.media = {{"conductor", permittivity, permittivity}, {"coat", permittivity, 1}};
      options.solver.tolerance = 1e-6;
      const CapacitanceSolution solution = solve_capacitance(mesh, options);
      CAPTURE(permittivity, level, solution.solves[0].iterations);
      CHECK(solution.converged);
      const double exact = 1 / (0.5 / permittivity + 0.5);
      error[level - 2] = solution.maxwell(0, 0) / unit_capacitance / exact - 1;
    }
    CAPTURE(permittivity);
    CHECK(std::abs(error[1]) < 1.3e-2);
    CHECK(order(std::abs(error[0]), std::abs(error[1])) == Approx(1.9).margin(0.25));
  }
}

TEST_CASE("a conductor in two dielectric shells has its capacitance") {
  double error[2];
  for (const int level : {2, 3}) {
    Shells shells = conductor_in_shells(level);
    shells.options.solver.tolerance = 1e-6;
    const CapacitanceSolution solution = solve_capacitance(shells.mesh, shells.options);
    CHECK(solution.converged);
    error[level - 2] = solution.maxwell(0, 0) / unit_capacitance / shells.capacitance - 1;
  }
  CAPTURE(error[0], error[1]);
  CHECK(std::abs(error[1]) < 1e-2);
  CHECK(order(std::abs(error[0]), std::abs(error[1])) == Approx(1.9).margin(0.25));
}

namespace {

/// ∫ σ over ε₀: of free and bound charges together.
double total_charge(const ConductorSolution& solution) {
  double sum = 0;
  for (std::size_t i = 0; i < solution.panels.size(); ++i)
    sum += solution.panels.area(i) * solution.sigma[0][i];
  return sum;
}

/// Solutions by the FMM on that processor against those of entries and closed forms.
void check_contrasts_of_a_million(Processor processor) {
  const double permittivity = 1e6;
  ConductorOptions exact, fast;
  exact.op.kind = OperatorOptions::Choice::dense;
  exact.solver.tolerance = 1e-10;
  fast.op.kind = OperatorOptions::Choice::fmm;
  fast.op.processor = processor;
  fast.op.tolerance = fast.solver.tolerance = 1e-6;
  fast.op.max_leaf = 20;
  // Densities are those of exact products as far as tolerances and the condition say.
  const auto solve_both = [&](const SurfaceMesh& mesh, const std::vector<std::string>& interfaces,
                              const std::vector<Media>& media, const AppliedField& applied,
                              const std::vector<double>& given) {
    for (ConductorOptions* options : {&exact, &fast}) {
      options->interfaces = interfaces;
      options->media = media;
      options->applied = applied;
    }
    const ConductorSolution by_entries = solve_conductors(mesh, exact, {given});
    ConductorSolution by_fmm = solve_conductors(mesh, fast, {given});
    CHECK(by_entries.converged);
    CHECK(by_fmm.converged);
    CHECK(by_fmm.op.processor == processor);
    CHECK(by_fmm.op.levels >= 3);
    const double condition = by_fmm.solves[0].condition;
    CAPTURE(mesh.groups.size(), applied.charges.size(), condition);
    CHECK(relative_difference(by_fmm.sigma[0], by_entries.sigma[0]) <
          condition * (fast.op.tolerance + fast.solver.tolerance));
    return by_fmm;
  };
  // Gauss's law of the charges that are given, or of conductors, over all surfaces.
  const auto check_balance = [&](const ConductorSolution& solution, double charge) {
    double size = 0;
    for (std::size_t i = 0; i < solution.panels.size(); ++i)
      size += solution.panels.area(i) * std::abs(solution.sigma[0][i]);
    CAPTURE(charge, total_charge(solution), size);
    CHECK(std::abs(total_charge(solution) - charge) < fast.solver.tolerance * size);
  };
  AppliedField uniform, charge;
  uniform.uniform = {0, 0, 1};
  charge.charges = {{{0, 0, 0.5}, unit_capacitance, permittivity}};
  const std::vector<Media> of_sphere{{"sphere", permittivity, 1}};
  // The bounds of potentials are of the mesh's errors, as above and below.
  const ConductorSolution in_field = solve_both(sphere(3), {"sphere"}, of_sphere, uniform, {});
  CHECK(error_of_potential(in_field, [&](Vec3d x) { return sphere_in_field(permittivity, x); }) <
        0.02);
  check_balance(in_field, 0);
  const ConductorSolution of_charge = solve_both(sphere(3), {"sphere"}, of_sphere, charge, {});
  CHECK(error_of_potential(of_charge,
                           [&](Vec3d x) { return charge_at_sphere(permittivity, 0.5, x); }) < 0.02);
  check_balance(of_charge, 4 * std::numbers::pi * (1 - 1 / permittivity));
  SurfaceMesh coated;
  add_ellipsoid(coated, "conductor", 3, {1, 1, 1});
  add_ellipsoid(coated, "coat", 3, {2, 2, 2});
  const ConductorSolution solution =
      solve_both(coated, {"coat"},
                 {{"conductor", permittivity, permittivity}, {"coat", permittivity, 1}}, {}, {1});
  const double free_charge = conductor_charges(coated, solution)[0][0];
  CHECK(free_charge / unit_capacitance == Approx(1 / (0.5 / permittivity + 0.5)).epsilon(1.3e-2));
  check_balance(solution, free_charge / epsilon_0);
}

}  // namespace

TEST_CASE("contrasts of 1e6 keep their digits by the FMM's far field") {
  check_contrasts_of_a_million(Processor::cpu);
}

TEST_CASE("contrasts of 1e6 keep their digits by the FMM's far field on the GPU") {
  if (gpu_is_there()) check_contrasts_of_a_million(Processor::gpu);
}

TEST_CASE("beside an edge where panels' widths differ by ten K' has no charge averaged alone") {
  double charge[2], error[2];
  for (const NormalRows rows : {NormalRows::averaged, NormalRows::at_centroids}) {
    ConductorOptions options = sphere_of(4);
    options.interfaces = {"cube"};
    options.media[0].group = "cube";
    options.op.kind = OperatorOptions::Choice::dense;
    options.op.normal_rows = rows;
    options.applied.uniform = {0, 0, 1};
    const ConductorSolution solution = solve_conductors(cube_of_two_gradings(6), options, {{}});
    REQUIRE(solution.converged);
    const bool is_pointwise = rows == NormalRows::at_centroids;
    double moment = 0;
    charge[is_pointwise] = 0;
    for (std::size_t i = 0; i < solution.panels.size(); ++i) {
      const double of_panel = solution.sigma[0][i] * solution.panels.area(i);
      charge[is_pointwise] += of_panel;
      moment += of_panel * solution.panels.centroid(i).z;
    }
    error[is_pointwise] = moment / cube_polarizability(4) - 1;
  }
  CAPTURE(charge[0], charge[1], error[0], error[1]);
  CHECK(std::abs(charge[0]) < 1e-6);  // what the solver leaves
  CHECK(std::abs(charge[1]) > 1e-3);
  CHECK(std::abs(error[0]) < 0.02);
  CHECK(std::abs(error[1]) > 3 * std::abs(error[0]));
}

TEST_CASE("residuals ask of a conductor far from another one what they ask of it alone") {
  const auto condition_of_first = [](const std::vector<double>& places) {
    SurfaceMesh mesh;
    ConductorOptions options;
    for (const double x : places) {
      const std::string number = std::to_string(options.interfaces.size());
      add_ellipsoid(mesh, ("conductor" + number).c_str(), 2, {1, 1, 1}, {x, 0, 0});
      add_ellipsoid(mesh, ("coat" + number).c_str(), 2, {2, 2, 2}, {x, 0, 0});
      options.interfaces.push_back("coat" + number);
      options.media.push_back({"conductor" + number, 4, 4});
      options.media.push_back({"coat" + number, 4, 1});
    }
    const CapacitanceSolution solution = solve_capacitance(mesh, options);
    CHECK(solution.converged);
    return solution.solves[0].condition;
  };
  const double alone = condition_of_first({0});
  CAPTURE(alone);
  CHECK(alone < 10);
  CHECK(condition_of_first({0, 1000}) == Approx(alone).epsilon(0.05));
}

TEST_CASE("a dielectric sphere and shell in a uniform field", "[long][accuracy]") {
  for (const double permittivity : {1e-4, 0.3, 4.0, 1e6}) {
    ConductorOptions options = sphere_of(permittivity);
    options.applied.uniform = {0, 0, 2};
    double error[2];
    for (const int level : {2, 3})
      error[level - 2] =
          error_of_potential(solve_conductors(sphere(level), options, {{}}),
                             [&](Vec3d x) { return 2 * sphere_in_field(permittivity, x); });
    CAPTURE(permittivity);
    CHECK(error[1] < 2 * 0.02);
    CHECK(order(error[0], error[1]) > 1.6);

    options.interfaces = {"inner", "outer"};
    options.media = {{"inner", 1, permittivity}, {"outer", permittivity, 1}};
    for (const int level : {3, 4}) {
      SurfaceMesh mesh;
      add_ellipsoid(mesh, "inner", level, {0.8, 0.8, 0.8});
      add_ellipsoid(mesh, "outer", level, {1, 1, 1});
      error[level - 3] = error_of_potential(solve_conductors(mesh, options, {{}}), [&](Vec3d x) {
        return 2 * shell_in_field(permittivity, 0.8, x);
      });
    }
    CHECK(error[1] < 2 * 0.02);
    CHECK(order(error[0], error[1]) > 1.3);
  }
}

TEST_CASE("a point charge inside and outside a dielectric sphere") {
  for (const double permittivity : {0.1, 4.0, 1e4})
    for (const double distance : {0.5, 1.8}) {
      ConductorOptions options = sphere_of(permittivity);
      options.applied.charges = {
          {{0, 0, distance}, unit_capacitance, distance < 1 ? permittivity : 1}};
      double error[2];
      ConductorSolution solution;
      for (const int level : {3, 4}) {
        solution = solve_conductors(sphere(level), options, {{}});
        error[level - 3] = error_of_potential(
            solution, [&](Vec3d x) { return charge_at_sphere(permittivity, distance, x); });
      }
      CAPTURE(permittivity, distance, error[0], error[1]);
      CHECK(error[1] < 0.01 / std::min(1.0, permittivity));
      CHECK(order(error[0], error[1]) > 1.5);
      // Gauss: the bound charges on the sphere and at the charge add up to the charge as it is in
      // vacuum.
      double bound = 0;
      for (std::size_t i = 0; i < solution.panels.size(); ++i)
        bound += solution.sigma[0][i] * solution.panels.area(i) / (4 * std::numbers::pi);
      CHECK(bound == Approx(distance < 1 ? 1 - 1 / permittivity : 0).margin(1e-6));
    }
}

TEST_CASE("a floating sphere has no charge, or the one that is given") {
  ConductorOptions options;
  options.floating = {"sphere"};
  options.solver.tolerance = 1e-8;
  options.applied.uniform = {0, 0, 1};
  const double given = 0.3 * unit_capacitance;
  const SurfaceMesh mesh = sphere(4);
  const ConductorSolution solution = solve_conductors(mesh, options, {{0.0}, {given}});
  REQUIRE(solution.converged);
  CHECK(std::abs(conductor_charges(mesh, solution)[0][0]) < 1e-7 * unit_capacitance);
  CHECK(conductor_charges(mesh, solution)[1][0] == Approx(given).epsilon(1e-7));
  CHECK(std::abs(solution.potential[0][0]) < 1e-6);
  CHECK(solution.potential[1][0] == Approx(0.3).epsilon(3e-3));
  CHECK(error_of_potential(solution, [](Vec3d x) {
          return norm(x) < 1 ? 0 : -x.z * (1 - 1 / std::pow(norm(x), 3));
        }) < 5e-3);
}

TEST_CASE("a floating sphere between plates is what the capacitances say, in several media") {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "floating", 3, {0.3, 0.3, 0.3}, {0.05, 0, 0.1});
  add_grid(mesh, add_group(mesh, "lower"), 10, {-0.5, -0.5, -0.5}, {1, 0, 0}, {0, 1, 0});
  add_grid(mesh, add_group(mesh, "upper"), 10, {-0.5, -0.5, 0.5}, {1, 0, 0}, {0, 1, 0});
  add_ellipsoid(mesh, "body", 3, {0.4, 0.4, 0.4}, {0.05, 0, 0.05});
  ConductorOptions options;
  options.interfaces = {"body"};
  options.media = {{"body", 5, 1}, {"floating", 5, 5}};
  options.solver.tolerance = 1e-9;
  const SquareMatrix c = solve_capacitance(mesh, options).maxwell;
  options.floating = {"floating"};
  const double charge = 1e-12, volts[] = {-1, 2};
  const ConductorSolution solution = solve_conductors(mesh, options, {{charge, -1, 2}});
  REQUIRE(solution.converged);
  const double potential = (charge - c(0, 1) * volts[0] - c(0, 2) * volts[1]) / c(0, 0);
  CHECK(solution.potential[0][0] == Approx(potential).epsilon(1e-6));
  const std::vector<double> charges = conductor_charges(mesh, solution)[0];
  CHECK(charges[0] == Approx(charge).epsilon(1e-6));
  for (const int i : {1, 2})
    CHECK(charges[i] ==
          Approx(c(i, 0) * potential + c(i, 1) * volts[0] + c(i, 2) * volts[1]).epsilon(1e-6));
}

TEST_CASE("a floating sphere between plates has the potential that images of its charge say") {
  // Plates so wide that their rims, towards which fields fall by exp(-2 pi), are not felt.
  constexpr double radius = 0.25, height = 0.1, half_width = 2;
  std::vector<double> line;  // denser in the middle
  for (int i = -10; i <= 10; ++i)
    line.push_back(1 + std::copysign(std::pow(std::abs(i) / 10.0, 1.7), i));
  const double exact = floating_between_plates(radius, height);
  CHECK(exact > 1.1 * height);  // the plates count
  double error[2];
  for (const int level : {2, 3}) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "sphere", level, {radius, radius, radius}, {0, 0, height});
    for (const auto& [name, z] : {std::pair("lower", -0.5), {"upper", 0.5}})
      add_grid_of_lines(mesh, add_group(mesh, name), line, {-half_width, -half_width, z},
                        {2 * half_width, 0, 0}, {0, 2 * half_width, 0});
    ConductorOptions options;
    options.floating = {"sphere"};
    const ConductorSolution solution = solve_conductors(mesh, options, {{0, -0.5, 0.5}});
    REQUIRE(solution.converged);
    CHECK(std::abs(conductor_charges(mesh, solution)[0][0]) < 1e-6 * unit_capacitance);
    error[level - 2] = solution.potential[0][0] / exact - 1;
  }
  CAPTURE(error[0], error[1]);
  CHECK(std::abs(error[1]) < 6e-3);
  CHECK(order(std::abs(error[0]), std::abs(error[1])) == Approx(1.9).margin(0.25));
}

TEST_CASE("a sphere half in another medium, whose border ends on it") {
  // Its field is that of a sphere in vacuum, so that nothing is bound on the border.
  for (const double permittivity : {3.0, 1e4}) {
    SurfaceMesh mesh = half_immersed_sphere(3, 3);
    ConductorOptions options;
    options.conductors = {{"sphere", {"upper", "lower"}}};
    options.interfaces = {"border"};
    options.media = {{"lower", permittivity, permittivity}, {"border", permittivity, 1}};
    options.solver.tolerance = 1e-8;
    const CapacitanceSolution solution = solve_capacitance(mesh, options);
    CAPTURE(permittivity);
    CHECK(solution.converged);
    CHECK(solution.maxwell(0, 0) / unit_capacitance ==
          Approx((1 + permittivity) / 2).epsilon(1e-2));
  }
}

TEST_CASE("the free charge of sheets between two media") {
  // Of a disk in the border of two half spaces half is in each; of a shell around a dielectric all
  // is outside.
  ConductorOptions options;
  const double in_vacuum = solve_capacitance(disk(3), options).maxwell(0, 0);
  options.media = {{"disk", 7, 3}};
  CHECK(solve_capacitance(disk(3), options).maxwell(0, 0) == Approx(5 * in_vacuum).epsilon(1e-6));
  const double of_sphere = solve_capacitance(sphere(3), {}).maxwell(0, 0);
  options.media = {{"sphere", 100, 2}};
  CHECK(solve_capacitance(sphere(3), options).maxwell(0, 0) == Approx(2 * of_sphere).epsilon(1e-6));
}

TEST_CASE("dielectrics on the GPU are those of the CPU") {
  if (!gpu_is_there()) return;
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "conductor", 4, {1, 1, 1});
  add_ellipsoid(mesh, "coat", 4, {2, 2, 2});
  add_ellipsoid(mesh, "floating", 3, {0.5, 0.5, 0.5}, {0, 0, 3});
  add_grid(mesh, add_group(mesh, "sheet"), 12, {-1, -1, -3}, {2, 0, 0}, {0, 2, 0});
  ConductorOptions options;
  options.interfaces = {"coat"};
  options.media = {{"conductor", 50, 50}, {"coat", 50, 1}, {"sheet", 3, 1}};
  options.floating = {"floating"};
  options.applied.uniform = {0, 0, 0.3};
  options.op.kind = OperatorOptions::Choice::fmm;
  std::vector<double> charges[2];
  for (const Processor processor : {Processor::cpu, Processor::gpu}) {
    options.op.processor = processor;
    const ConductorSolution solution = solve_conductors(mesh, options, {{1, 1e-11, 0}});
    CHECK(solution.converged);
    CHECK(solution.op.processor == processor);
    charges[processor == Processor::gpu] = conductor_charges(mesh, solution)[0];
  }
  for (std::size_t c = 0; c < 3; ++c) CHECK(charges[1][c] == Approx(charges[0][c]).epsilon(1e-5));
}

TEST_CASE("media and conductors that cannot be are refused in a sentence") {
  SurfaceMesh mesh = sphere(1);
  add_ellipsoid(mesh, "other", 1, {1, 1, 1}, {5, 0, 0});
  const auto refused = [&](const ConductorOptions& options, const char* saying) {
    CHECK_THROWS_WITH(solve_conductors(mesh, options, {{0.0}}), Catch::Contains(saying));
  };
  ConductorOptions options;
  options.interfaces = {"sphere"};
  refused(options, "media on its sides are not given");
  options.media = {{"sphere", 0, 1}};
  refused(options, "must be positive");
  options.media = {{"sphere", 2, 1}, {"nobody", 2, 2}};
  refused(options, "no group \"nobody\"");
  options.media = {{"sphere", 2, 1}, {"sphere", 2, 2}};
  refused(options, "given twice");
  options.media = {{"sphere", 2, 1}, {"other", 2, 1}};
  options.floating = {"other"};
  refused(options, "floats between two media");
  options.floating = {"sphere"};
  refused(options, "no conductor \"sphere\" to float");
  // An interface that ends on a conductor.
  SurfaceMesh cut;
  const int conductor = add_group(cut, "conductor"), interface = add_group(cut, "interface");
  add_grid(cut, conductor, 2, {0, 0, 0}, {2, 0, 0}, {0, 1, 0});
  for (std::size_t i = 0; i < cut.triangles.size(); ++i)
    if (std::ranges::all_of(cut.triangles[i], [&](auto v) { return cut.vertices[v].x >= 1; }))
      cut.group_of[i] = interface;
  options = {};
  options.interfaces = {"interface"};
  options.media = {{"interface", 3, 1}};
  options.floating = {"conductor"};
  CHECK_THROWS_WITH(solve_conductors(cut, options, {{1e-12}}),
                    Catch::Contains("floats between two media"));
  options = {};
  options.interfaces = {"nobody"};
  refused(options, "no group \"nobody\"");
  options.interfaces = {"other"};
  options.conductors = {{"both", {"sphere", "other"}}};
  refused(options, "is an interface and belongs to a conductor");
  options = {};
  options.applied.uniform = {1, 0, 0};
  CHECK_THROWS_AS(solve_capacitance(mesh, options), InputError);
}

}  // namespace fmbem::test::dielectrics_tests
