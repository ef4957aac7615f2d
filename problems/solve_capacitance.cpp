#include "fmbem/problems/solve_capacitance.hpp"

#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

SquareMatrix bound_of_solver_error(const CapacitanceSolution& solution) {
  const std::size_t n = solution.conductors.size();
  SquareMatrix error(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      error(i, j) = solution.residual_weight[i] * solution.solves[j].rhs_norm *
                    solution.solves[j].true_residual;
  return error;
}

/// Of a solution with a problem for each conductor and these charges.
CapacitanceSolution with_matrices(ProblemSolution solution,
                                  const std::vector<std::vector<double>>& charges) {
  const std::size_t n = charges.size();
  CapacitanceSolution result{std::move(solution), SquareMatrix(n), SquareMatrix()};
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) result.maxwell(i, j) = charges[j][i];
  result.solver_error = bound_of_solver_error(result);
  return result;
}

}  // namespace

CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options) {
  FMBEM_REQUIRE(options.floating.empty() && options.applied.empty(),
                "capacitances are those of conductors at potentials, without a field or charges: "
                "leave out what floats and what is applied");
  const std::size_t n = make_conductors(mesh, options.conductors, options.interfaces).size();
  std::vector<std::vector<double>> unit_voltages(n, std::vector<double>(n, 0.0));
  for (std::size_t j = 0; j < n; ++j) unit_voltages[j][j] = 1;
  ConductorSolution solution = solve_conductors(mesh, options, unit_voltages);
  const auto charges = conductor_charges(mesh, solution);
  return with_matrices(without_problem(std::move(solution)), charges);
}

CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                                      const LayerOptions& options) {
  ProblemSolver solver(mesh, problem, options);
  solver.solve_basis();
  ProblemSolution solution = ProblemSolver::end(std::move(solver));
  std::vector<std::vector<double>> charges;
  for (const ProblemResult& result : solution.results) charges.push_back(result.conductor_flux);
  return with_matrices(std::move(solution), charges);
}

}  // namespace fmbem
