// Prints a table of dielectrics that touch: iterations to 1e-6 by the FMM, and how far densities,
// charges of conductors, fluxes through groups of interfaces and flux densities there are from
// those to 1e-10 (docs/data/touching_cpu.csv).
// fmbem-bench-touching [PANELS]: up to this many panels (default 2,500).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "bench/main.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/touching_surfaces.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

using Densities = std::vector<std::vector<double>>;

double distance(const Densities& a, const Densities& b) {
  double squares = 0, all = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < a[k].size(); ++i) {
      squares += std::pow(a[k][i] - b[k][i], 2);
      all += b[k][i] * b[k][i];
    }
  return std::sqrt(squares / all);
}

ProblemSolution solved(const TouchingCase& of, double tolerance) {
  LayerOptions options;
  options.solver.tolerance = options.op.tolerance = tolerance;
  options.op.kind = OperatorOptions::Choice::fmm;
  options.op.processor = Processor::cpu;
  return solve_problem(of.mesh, of.problem, options);
}

/// Of interfaces: the largest error of a group's flux, of what flows through the region of the
/// lower permittivity, and that of flux densities in the mean square over a group.
struct FluxErrors {
  double of_groups = 0, of_densities = 0;
};
FluxErrors flux_errors(const TouchingCase& of, const ProblemSolution& rough,
                       const ProblemSolution& fine) {
  FluxErrors result;
  for (std::size_t g = 0; g < of.mesh.groups.size(); ++g) {
    const auto condition =
        std::ranges::find(of.problem.groups, of.mesh.groups[g].name, &GroupCondition::group);
    if (condition->kind != GroupCondition::Kind::interface) continue;
    const double size =
        std::min(flow_in(of, fine, *condition->inside), flow_in(of, fine, *condition->outside))
            .amount;
    Densities of_rough(rough.parts()), of_fine(rough.parts());
    for (std::size_t k = 0; k < rough.parts(); ++k) {
      const ProblemResult &a = rough.results[k], &b = fine.results[k];
      result.of_groups =
          larger_error(result.of_groups, std::abs(a.flux_inside[g] - b.flux_inside[g]) / size);
      for (std::size_t i = 0; i < of.mesh.triangles.size(); ++i) {
        if (of.mesh.group_of[i] != static_cast<int>(g)) continue;
        of_rough[k].push_back(a.surface.inside[i]);
        of_fine[k].push_back(b.surface.inside[i]);
      }
    }
    result.of_densities = larger_error(result.of_densities, distance(of_rough, of_fine));
  }
  return result;
}

void print(const char* name, const TouchingCase& of, std::size_t most) {
  if (of.mesh.triangles.size() > most) return;
  const ProblemSolution rough = solved(of, 1e-6), fine = solved(of, 1e-10);
  std::printf("\"%s\",%zu,%d,%.0e,", name, of.mesh.triangles.size(), rough.solves[0].iterations,
              distance(rough.sigma, fine.sigma));
  double worst = 0, largest = 0;
  for (std::size_t c = 0; c < fine.results[0].conductor_flux.size(); ++c) {
    const double exact = fine.results[0].conductor_flux[c];
    worst = larger_error(worst, std::abs(rough.results[0].conductor_flux[c] - exact));
    largest = std::max(largest, std::abs(exact));
  }
  if (largest > 0) std::printf("%.0e", worst / largest);
  const FluxErrors fluxes = flux_errors(of, rough, fine);
  std::printf(",%.0e,%.0e\n", fluxes.of_groups, fluxes.of_densities);
  std::fflush(stdout);
}

TouchingCase lossy(TouchingCase of, std::size_t region, double loss) {
  of.problem.regions[region].loss = loss;
  return of;
}

/// What is of one size: n cells along an edge, spheres of a level.
void print_cases(int n, int level, std::size_t most) {
  const auto show = [&](const char* name, const TouchingCase& of) { print(name, of, most); };
  show("cubes of 1e6 and 1e3", cubes_in_a_row(n, {1e6, 1e3}));
  show("cubes of 1e6 and 1e-4", cubes_in_a_row(n, {1e6, 1e-4}));
  show("cubes of 1e3, 1e6 and 1e-2", cubes_in_a_row(n, {1e3, 1e6, 1e-2}));
  show("cubes of 1e6, 1e3, 10, 1e4, 1 and 1e5", cubes_in_a_row(n / 2, {1e6, 1e3, 10, 1e4, 1, 1e5}));
  show("cubes of 1e6 and 1e3 in a shell of 1e5, a core of 1",
       nested_cubes(n / 2, {1e6, 1e3}, 1, 1e5));
  show("cubes of 1e6 and 1e3 in a shell of 1, a core of 1e5",
       nested_cubes(n / 2, {1e6, 1e3}, 1e5, 1));
  show("slabs of 1e4 and 1 in series", slabs_in_series(n, 1e4, 1));
  show("slabs of 1 and 1e6 in series", slabs_in_series(n, 1, 1e6));
  show("slabs of 1e4 and 1 side by side", slabs_in_parallel(n, 1e4, 1));
  show("bar half in a substrate of 1e4", bar_in_substrate(n / 4, 1e4));
  show("sphere of halves, 1e6 and 1e3", sphere_in_field(level, true, 1e6, 1e3));
  show("coated conductor, coat of 1e6 and 1e2", coated_sphere(level, true, 1e6, 1e2));
  show("sphere of halves, 1e6 and 1e2 - 2e2i",
       lossy(sphere_in_field(level, true, 1e6, 1e2), 2, 2e2));
  show("sphere of halves, 1e6 and 1e6 - 2e6i",
       lossy(sphere_in_field(level, true, 1e6, 1e6), 2, 2e6));
  show("cubes of 1e6 - 2e6i and 1e6", lossy(cubes_in_a_row(n, {1e6, 1e6}), 1, 2e6));
  show("cubes of 10 - 1e4i and 4", lossy(cubes_in_a_row(n, {10, 4}), 1, 1e4));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Dielectrics that touch: iterations, densities, charges and fluxes");
  std::size_t most = 2'500;
  bench::add_most_panels(app, most);
  return bench::run_main(app, argc, argv, [&] {
    std::printf("case,panels,iterations,density,charge,flux,flux_density\n");
    for (int level = 2; level < 8; ++level) print_cases(1 << level, level, most);
  });
}
