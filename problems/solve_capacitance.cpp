#include "fmbem/problems/solve_capacitance.hpp"

#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

SquareMatrix bound_of_solver_error(const CapacitanceSolution& solution) {
  const std::size_t n = solution.conductors.size();
  SquareMatrix error(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      error(i, j) =
          solution.residual_weight[i] * solution.rhs_norm[j] * solution.solves[j].true_residual;
  return error;
}

}  // namespace

CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options) {
  FMBEM_REQUIRE(options.floating.empty() && options.applied.empty(),
                "capacitances are those of conductors at potentials, without a field or charges: "
                "leave out what floats and what is applied");
  const std::size_t n = make_conductors(mesh, options.conductors, options.interfaces).size();
  std::vector<std::vector<double>> unit_voltages(n, std::vector<double>(n, 0.0));
  for (std::size_t j = 0; j < n; ++j) unit_voltages[j][j] = 1;
  CapacitanceSolution result{solve_conductors(mesh, options, unit_voltages), SquareMatrix(),
                             SquareMatrix()};
  const auto charges = conductor_charges(mesh, result);
  result.maxwell = SquareMatrix(n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) result.maxwell(i, j) = charges[j][i];
  result.solver_error = bound_of_solver_error(result);
  return result;
}

}  // namespace fmbem
