#include "fmbem/problems/solve_capacitance.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace fmbem {
namespace {

/// Lengths of the vectors of the panels' charges in each problem, farads.
std::vector<double> norms_of_charges(const CapacitanceSolution& solution, double permittivity) {
  const auto n = static_cast<std::int64_t>(solution.conductors.size());
  const std::size_t panels = solution.panels.size();
  std::vector<double> area(panels), norms(n);
  for (std::size_t k = 0; k < panels; ++k) area[k] = solution.panels.area(k);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) {
    double squares = 0;
    for (std::size_t k = 0; k < panels; ++k) {
      const double charge = solution.sigma[i][k] * area[k];
      squares += charge * charge;
    }
    norms[i] = epsilon_0 * permittivity * solution.scale_to_m * std::sqrt(squares);
  }
  return norms;
}

SquareMatrix bound_of_solver_error(const CapacitanceSolution& solution,
                                   std::span<const int> conductor_of, double permittivity) {
  const std::size_t n = solution.conductors.size();
  std::vector<double> volts(n);  // lengths of the vectors of potentials
  for (const int conductor : conductor_of) ++volts[conductor];
  for (double& squares : volts) squares = std::sqrt(squares);
  const std::vector<double> charges = norms_of_charges(solution, permittivity);
  SquareMatrix error(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      error(i, j) = charges[i] * volts[j] * solution.solves[j].true_residual;
  return error;
}

}  // namespace

CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options) {
  const std::size_t n = make_conductors(mesh, options.conductors).size();
  std::vector<std::vector<double>> unit_voltages(n, std::vector<double>(n, 0.0));
  for (std::size_t j = 0; j < n; ++j) unit_voltages[j][j] = 1;
  CapacitanceSolution result{solve_conductors(mesh, options, unit_voltages), SquareMatrix(),
                             SquareMatrix()};
  const std::vector<int> conductor_of = conductor_of_panels(mesh, result.panels, result.conductors);
  result.maxwell = maxwell_capacitance(result.panels, conductor_of, result.sigma,
                                       options.permittivity, mesh.scale_to_m);
  result.solver_error = bound_of_solver_error(result, conductor_of, options.permittivity);
  return result;
}

}  // namespace fmbem
