// Prints the tables of docs/accuracy.md of conductors among dielectrics against closed forms, on
// finer and finer meshes, and of both forms of K' beside an edge.
// fmbem-bench-dielectrics [PANELS]: up to this many panels (default 9,000).
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// 4πε₀ times 1 m: a charge of as many C has a potential of 1 V at a distance of 1 m.
const double unit_capacitance = natural_capacitance(1);

ConductorOptions to_tolerance(double tolerance) {
  ConductorOptions options;
  options.solver.tolerance = tolerance;
  return options;
}

/// Results on one mesh: the error against a closed form, and the sum of all charges less what it
/// should be.
struct Result {
  std::size_t panels;
  int iterations;
  double error, balance;
};

Result result_of(const ConductorSolution& solution, double error, double total) {
  double sum = 0, size = 0;
  for (std::size_t i = 0; i < solution.panels.size(); ++i) {
    const double charge = solution.sigma[0][i] * solution.panels.area(i);
    sum += charge;
    size += std::abs(charge);
  }
  return {solution.panels.size(), solution.solves[0].iterations, error,
          std::abs(sum - total) / size};
}

void print_rows(const std::string& name, std::size_t most,
                const std::function<Result(int level)>& solve) {
  double before = 0;
  for (int level = 1; level < 9; ++level) {
    const Result result = solve(level);
    std::printf("| %s | %zu | %d | %.2e |", name.c_str(), result.panels, result.iterations,
                result.error);
    if (before > 0)
      std::printf(" %.2f |", std::log2(before / result.error));
    else
      std::printf(" |");
    std::printf(" %.0e |\n", result.balance);
    std::fflush(stdout);
    before = result.error;
    if (4 * result.panels > most) return;
  }
}

std::string with_permittivity(const char* name, double permittivity) {
  char text[100];
  std::snprintf(text, sizeof text, "%s, ε = %g", name, permittivity);
  return text;
}

Result coated(int level, double permittivity) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "conductor", level, {1, 1, 1});
  add_ellipsoid(mesh, "coat", level, {2, 2, 2});
  ConductorOptions options = to_tolerance(1e-6);
  options.interfaces = {"coat"};
  options.media = {{"conductor", permittivity, permittivity}, {"coat", permittivity, 1}};
  const CapacitanceSolution solution = solve_capacitance(mesh, options);
  const double exact = 1 / (0.5 / permittivity + 0.5), c = solution.maxwell(0, 0);
  return result_of(solution, std::abs(c / unit_capacitance / exact - 1), c / epsilon_0);
}

Result in_shells(int level) {
  Shells shells = conductor_in_shells(level);
  shells.options.solver.tolerance = 1e-6;
  const CapacitanceSolution solution = solve_capacitance(shells.mesh, shells.options);
  const double c = solution.maxwell(0, 0);
  return result_of(solution, std::abs(c / unit_capacitance / shells.capacitance - 1),
                   c / epsilon_0);
}

Result in_field(const SurfaceMesh& mesh, ConductorOptions options,
                const std::function<double(Vec3d)>& exact) {
  options.applied.uniform = {0, 0, 1};
  const ConductorSolution solution = solve_conductors(mesh, options, {{}});
  return result_of(solution, error_of_potential(solution, exact), 0);
}

ConductorOptions dielectric_sphere(double permittivity) {
  ConductorOptions options = to_tolerance(1e-6);
  options.interfaces = {"sphere"};
  options.media = {{"sphere", permittivity, 1}};
  return options;
}

Result shell(int level, double permittivity) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "inner", level, {0.8, 0.8, 0.8});
  add_ellipsoid(mesh, "outer", level, {1, 1, 1});
  ConductorOptions options = to_tolerance(1e-6);
  options.interfaces = {"inner", "outer"};
  options.media = {{"inner", 1, permittivity}, {"outer", permittivity, 1}};
  return in_field(mesh, options, [=](Vec3d x) { return shell_in_field(permittivity, 0.8, x); });
}

Result with_charge(int level, double permittivity, double distance) {
  ConductorOptions options = dielectric_sphere(permittivity);
  const double own = distance < 1 ? permittivity : 1;
  options.applied.charges = {{{0, 0, distance}, unit_capacitance, own}};
  const ConductorSolution solution = solve_conductors(sphere(level), options, {{}});
  const double error = error_of_potential(
      solution, [=](Vec3d x) { return charge_at_sphere(permittivity, distance, x); });
  return result_of(solution, error, distance < 1 ? 4 * 3.14159265358979 * (1 - 1 / own) : 0);
}

/// A floating sphere between plates at ∓1 V, whose potential follows from the capacitances.
Result floating(int level) {
  SurfaceMesh mesh;
  const int n = 4 << level;
  add_ellipsoid(mesh, "sphere", level, {0.3, 0.3, 0.3}, {0.05, 0, 0.1});
  add_grid(mesh, add_group(mesh, "lower"), n, {-0.5, -0.5, -0.5}, {1, 0, 0}, {0, 1, 0});
  add_grid(mesh, add_group(mesh, "upper"), n, {-0.5, -0.5, 0.5}, {1, 0, 0}, {0, 1, 0});
  ConductorOptions options = to_tolerance(1e-6);
  const SquareMatrix c = solve_capacitance(mesh, options).maxwell;
  options.floating = {"sphere"};
  const ConductorSolution solution = solve_conductors(mesh, options, {{0, -1, 1}});
  const std::vector<double> charges = conductor_charges(mesh, solution)[0];
  const double exact = (c(0, 1) - c(0, 2)) / c(0, 0);
  return result_of(solution, std::abs(solution.potential[0][0] - exact),
                   (charges[1] + charges[2]) / epsilon_0);
}

void print_closed_forms(std::size_t most) {
  std::printf(
      "| problem | panels | iterations | error | order in h | balance |\n"
      "|---|---|---|---|---|---|\n");
  for (const double e : {1e-4, 2.0, 1e4, 1e6})
    print_rows(with_permittivity("coated conductor 1 : 2", e), most,
               [=](int level) { return coated(level, e); });
  print_rows("shells .5/.6/.9/1, ε = 2", most, in_shells);
  for (const double e : {1e-4, 4.0, 1e6}) {
    print_rows(with_permittivity("sphere in a field", e), most, [=](int level) {
      return in_field(sphere(level), dielectric_sphere(e),
                      [=](Vec3d x) { return sphere_in_field(e, x); });
    });
    print_rows(with_permittivity("shell 0.8 : 1 in a field", e), most,
               [=](int level) { return shell(level, e); });
  }
  for (const double e : {4.0, 1e4}) {
    print_rows(with_permittivity("charge at 0.5 in a sphere", e), most,
               [=](int level) { return with_charge(level, e, 0.5); });
    print_rows(with_permittivity("charge at 1.8", e), most,
               [=](int level) { return with_charge(level, e, 1.8); });
  }
  print_rows("floating sphere between plates", most, floating);
}

void print_edge() {
  std::printf(
      "\n| dielectric cube in a field, ε | panels | K' | dipole moment | reference | error | total "
      "charge |\n|---|---|---|---|---|---|---|\n");
  for (const double e : {4.0, 100.0})
    for (const int n : {8, 16, 24})
      for (const NormalRows rows : {NormalRows::averaged, NormalRows::at_centroids}) {
        const SurfaceMesh mesh = cube_of_two_gradings(n);
        ConductorOptions options = to_tolerance(1e-8);
        options.op.kind = OperatorOptions::Choice::dense;
        options.op.normal_rows = rows;
        options.interfaces = {"cube"};
        options.media = {{"cube", e, 1}};
        options.applied.uniform = {0, 0, 1};
        const ConductorSolution solution = solve_conductors(mesh, options, {{}});
        double moment = 0, total = 0;
        for (std::size_t i = 0; i < solution.panels.size(); ++i) {
          const double charge = solution.sigma[0][i] * solution.panels.area(i);
          moment += charge * solution.panels.centroid(i).z;
          total += charge;
        }
        const double exact = cube_polarizability(e);
        std::printf("| %g | %zu | %s | %.5f | %.5f | %.1e | %.0e |\n", e, solution.panels.size(),
                    rows == NormalRows::averaged ? "averaged" : "at centroids", moment, exact,
                    moment / exact - 1, total);
        std::fflush(stdout);
      }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Conductors among dielectrics against closed forms, and both forms of K' at an edge");
  std::size_t most = 9'000;
  bench::add_most_panels(app, most);
  return bench::run_main(app, argc, argv, [&] {
    print_closed_forms(most);
    print_edge();
  });
}
