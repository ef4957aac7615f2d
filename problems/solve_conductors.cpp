#include "fmbem/problems/solve_conductors.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"

namespace fmbem {
namespace {

void check(const ConductorOptions& options) {
  FMBEM_REQUIRE(options.permittivity > 0 && std::isfinite(options.permittivity),
                "the relative permittivity must be positive, not " << options.permittivity);
  FMBEM_REQUIRE(options.op.tolerance >= 0 && options.op.tolerance <= 0.5,
                "the operator's tolerance must be between 0 and 0.5, not " << options.op.tolerance);
}

void check(const std::vector<std::vector<double>>& voltages, std::size_t conductors) {
  for (const std::vector<double>& voltage : voltages)
    FMBEM_REQUIRE(voltage.size() == conductors, "there are " << conductors << " conductors, but "
                                                             << voltage.size() << " voltages");
}

/// sigma is [n problems][n panels].
void add_densities(const std::vector<double>& sigma, double permittivity,
                   ConductorSolution& result) {
  const double to_charge_density = epsilon_0 * permittivity / result.scale_to_m;
  const auto n = static_cast<std::ptrdiff_t>(result.panels.size());
  for (auto begin = sigma.begin(); begin != sigma.end(); begin += n) {
    result.sigma.emplace_back(begin, begin + n);
    result.charge_density.push_back(result.panels.to_input_order(result.sigma.back()));
    for (double& value : result.charge_density.back()) value *= to_charge_density;
  }
}

}  // namespace

ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& voltages) {
  check(options);
  ConductorSolution result;
  result.scale_to_m = mesh.scale_to_m;
  result.conductors = make_conductors(mesh, options.conductors);
  check(voltages, result.conductors.size());

  LinearSolver solver(options.solver);
  result.solver_tolerance = solver.tolerance();
  OperatorOptions operator_options = options.op;
  if (options.op.tolerance == 0) operator_options.tolerance = 0.1 * solver.tolerance();
  result.operator_tolerance = operator_options.tolerance;
  result.ksp_type = solver.ksp_type();

  const Timer setup;
  operator_options.processor =
      options.op.processor.value_or(faster_processor(mesh.triangles.size(), operator_options));
  result.panels = make_panels(mesh, *operator_options.processor, options.block_panels);
  const Panels& panels = result.panels;
  const std::vector<int> conductor_of = conductor_of_panels(mesh, panels, result.conductors);
  const Timer assembly;
  const auto v = make_single_layer(panels, operator_options);
  result.assembly_seconds = assembly.seconds();
  result.leaves = panels.leaves();
  const Timer preconditioner;
  solver.set_operator(v, panels.leaf_begin);
  result.preconditioner_seconds = preconditioner.seconds();
  result.pc_type = solver.pc_type();
  result.preconditioner_bytes = solver.preconditioner_bytes();
  result.setup_seconds = setup.seconds();

  const Timer solve;
  std::vector<double> potential, sigma(panels.size() * voltages.size());
  for (const std::vector<double>& voltage : voltages)
    for (const int conductor : conductor_of) potential.push_back(voltage[conductor]);
  result.solves = solver.solve(potential, sigma, static_cast<int>(voltages.size()));
  result.solve_seconds = solve.seconds();
  result.op = v->info();
  if (v->processor() == Processor::gpu) result.device_bytes = peak_device_memory();
  result.product_median_seconds = solver.median_product_seconds();
  result.converged = std::all_of(result.solves.begin(), result.solves.end(),
                                 [](const SolveReport& report) { return report.converged; });
  add_densities(sigma, options.permittivity, result);
  // The solution is for the host; who solves again needs the GPU's memory.
  result.panels.on_device.reset();
  return result;
}

}  // namespace fmbem
