#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/richardson.hpp"
#include "fmbem/problems/solve_capacitance.hpp"

namespace fmbem::cli {

/// One level of refinement: its panels and result.
struct LevelResult {
  std::size_t panels;
  SquareMatrix maxwell;
};

/// The `results` of the report.
Json results_json(const CapacitanceSolution& solution, const SurfaceMesh& mesh,
                  const std::vector<LevelResult>& levels,
                  const std::optional<RichardsonEstimate>& estimate);

/// What the program prints of a solution: the matrices. Digits beyond the estimated discretization
/// error are left out.
std::string capacitance_text(const CapacitanceSolution& solution, const SurfaceMesh& mesh,
                             const std::optional<RichardsonEstimate>& estimate);

}  // namespace fmbem::cli
