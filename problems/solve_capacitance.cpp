#include "fmbem/problems/solve_capacitance.hpp"

namespace fmbem {

CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options) {
  const std::size_t n = make_conductors(mesh, options.conductors).size();
  std::vector<std::vector<double>> unit_voltages(n, std::vector<double>(n, 0.0));
  for (std::size_t j = 0; j < n; ++j) unit_voltages[j][j] = 1;
  CapacitanceSolution result{solve_conductors(mesh, options, unit_voltages), SquareMatrix()};
  const std::vector<int> conductor_of = conductor_of_panels(mesh, result.panels, result.conductors);
  result.maxwell = maxwell_capacitance(result.panels, conductor_of, result.sigma,
                                       options.permittivity, mesh.scale_to_m);
  return result;
}

}  // namespace fmbem
