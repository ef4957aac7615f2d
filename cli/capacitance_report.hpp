#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/bem/richardson.hpp"
#include "fmbem/solvers/solve_capacitance.hpp"

namespace fmbem::cli {

/// One level of refinement: its panels and result.
struct LevelResult {
  std::size_t panels;
  SquareMatrix maxwell;
};

/// The `operators`, `solver` and `results` parts of the report.
std::string precision_name(Precision precision);
Json operators_json(const CapacitanceSolution& solution);
Json solver_json(const CapacitanceSolution& solution);
Json results_json(const CapacitanceSolution& solution, const SurfaceMesh& mesh,
                  const std::vector<LevelResult>& levels,
                  const std::optional<RichardsonEstimate>& estimate);

/// What was solved, and how: the mesh and the operator, a line each.
std::string problem_text(const CapacitanceSolution& solution, const SurfaceMesh& mesh, int threads);

/// What the program prints of a solution: matrices, iterations, residuals. Digits beyond the
/// estimated discretization error are left out.
std::string capacitance_text(const CapacitanceSolution& solution, const SurfaceMesh& mesh,
                             const std::optional<RichardsonEstimate>& estimate);

}  // namespace fmbem::cli
