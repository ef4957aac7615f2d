#include "fmbem/problems/solve_conductors.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"

namespace fmbem {

ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& voltages) {
  FMBEM_REQUIRE(options.permittivity > 0 && std::isfinite(options.permittivity),
                "the relative permittivity must be positive, not " << options.permittivity);
  FMBEM_REQUIRE(
      options.operator_tolerance >= 0 && options.operator_tolerance <= 0.5,
      "the operator's tolerance must be between 0 and 0.5, not " << options.operator_tolerance);
  ConductorSolution result;
  result.conductors = make_conductors(mesh, options.conductors);
  for (const std::vector<double>& voltage : voltages)
    FMBEM_REQUIRE(voltage.size() == result.conductors.size(),
                  "there are " << result.conductors.size() << " conductors, but " << voltage.size()
                               << " voltages");

  SolverOptions solver_options{options.tolerance, {}};
  if (options.solve_progress)
    solver_options.monitor = [&](int iteration, double residual) {
      options.solve_progress(iteration, residual);
    };
  LinearSolver solver(solver_options);
  result.solver_tolerance = solver.tolerance();
  result.operator_tolerance =
      options.operator_tolerance > 0 ? options.operator_tolerance : 0.1 * solver.tolerance();
  result.ksp_type = solver.ksp_type();

  const Timer setup;
  OperatorOptions operator_options{.kind = options.operator_kind,
                                   .near_field = options.near_field,
                                   .precision = options.precision,
                                   .tolerance = result.operator_tolerance,
                                   .progress = options.assembly_progress,
                                   .time_stages = options.time_stages};
  operator_options.processor =
      options.processor.value_or(faster_processor(mesh.triangles.size(), operator_options));
  result.panels = make_panels(mesh, operator_options.processor, options.max_leaf);
  const Panels& panels = result.panels;
  const std::vector<int> conductor_of = conductor_of_panels(mesh, panels, result.conductors);
  const Timer assembly;
  const auto v = make_single_layer(panels, operator_options);
  result.assembly_seconds = assembly.seconds();
  result.leaves = panels.leaves();
  const Timer preconditioner;
  solver.set_operator(*v, panels.leaf_begin);
  result.preconditioner_seconds = preconditioner.seconds();
  result.pc_type = solver.pc_type();
  result.preconditioner_bytes = solver.preconditioner_bytes();
  result.setup_seconds = setup.seconds();

  const Timer solve;
  const std::size_t n = panels.size(), n_problems = voltages.size();
  std::vector<double> potential, sigma(n * n_problems);
  for (const std::vector<double>& voltage : voltages)
    for (const int conductor : conductor_of) potential.push_back(voltage[conductor]);
  result.solves = solver.solve(potential, sigma, static_cast<int>(n_problems));
  result.solve_seconds = solve.seconds();
  result.op = v->info();
  if (v->processor() == Processor::gpu) result.device_bytes = peak_device_memory();
  result.product_median_seconds = solver.median_product_seconds();
  result.converged = std::all_of(result.solves.begin(), result.solves.end(),
                                 [](const SolveReport& report) { return report.converged; });

  const double to_charge_density = epsilon_0 * options.permittivity / mesh.scale_to_m;
  for (std::size_t j = 0; j < n_problems; ++j) {
    result.sigma.emplace_back(sigma.begin() + j * n, sigma.begin() + (j + 1) * n);
    result.charge_density.push_back(panels.to_input_order(result.sigma.back()));
    for (double& value : result.charge_density.back()) value *= to_charge_density;
  }
  // The solution is for the host; who solves again needs the GPU's memory.
  result.panels.on_device.reset();
  return result;
}

}  // namespace fmbem
