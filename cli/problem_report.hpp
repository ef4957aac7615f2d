#pragma once

#include <string>

#include "cli/report.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::cli {

/// Regions, a line each.
std::string regions_text(const BoundaryProblem& problem);

/// Which results of a solution there are: the problem's own with those of one conductor after the
/// other at 1 V behind it, or those of other right-hand sides.
struct ResultsAsked {
  bool basis = false, rhs = false;
};

/// Conductors, groups and energy of the problem's own result, or that there are others.
std::string results_text(const ProblemSolution& solution, const ResultsAsked& asked);
Json results_json(const ProblemSolution& solution, const ResultsAsked& asked);

/// Conductors whose charge or current was given between two media, with what became of their
/// solves.
Json driven_json(const ProblemSolution& solution);
/// A warning for each conductor among those that did not converge, for each of the solution's
/// notices, and for each region where what enters does not add up to 0.
void warn_of_problem(Console& console, Json& report, const ProblemSolution& solution);

}  // namespace fmbem::cli
