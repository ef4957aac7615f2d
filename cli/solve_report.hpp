#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem::cli {

/// What was solved, and how: the mesh and the operator, a line each.
std::string problem_text(const LayerSolution& solution, const SurfaceMesh& mesh,
                         const MeshReport& check, int threads);

/// The solver and what became of each problem, which `problems` names.
std::string solver_text(const LayerSolution& solution, const std::vector<std::string>& problems);

/// A warning for each problem that did not converge, and for residuals that are not accurate.
void warn_of_solves(Console& console, Json& report, const LayerSolution& solution,
                    const std::vector<std::string>& problems);

/// Says that there is no estimate of the discretization error, and how to get one.
std::string no_estimate(bool is_one_level);

/// A warning where a coarser level alone did not converge.
void warn_of_coarser_level(Console& console, Json& report);

/// {panels, operators, solver, timings_s} of one of the levels that were solved for.
Json level_json(std::size_t panels, const LayerSolution& solution);

/// Time and iterations of a level, in short.
std::string level_text(std::size_t panels, const LayerSolution& solution);

/// In front of the first level's text, and of the others'.
inline constexpr const char* levels_heading = "\nlevels    ";
inline constexpr const char* next_level = "\n          ";

/// Adds the conductors to the report.
void add_conductors(Json& report, const ConductorSolution& solution);

/// Adds mesh, backend, precision, tolerance, operators and solver to the report.
void add_solution(Json& report, const LayerSolution& solution, const SurfaceMesh& mesh,
                  const MeshReport& check);

struct Seconds {
  double mesh = 0, total = 0;
  std::optional<double> field{};
};

/// Adds times and memory to the report and prints them.
void account(Console& console, Json& report, const LayerSolution& solution, const Seconds& seconds);

}  // namespace fmbem::cli
