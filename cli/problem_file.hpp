#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/boundary_problem.hpp"

namespace fmbem::cli {

/// A problem's file (docs/problems.md).
struct ProblemFile {
  Json json;  ///< as it is, for the report
  BoundaryProblem problem;
};

/// Throws InputError that names the file and the place in it, for what is no JSON, keys that are
/// unknown, missing or there twice, values of another kind, expressions that do not parse, and what
/// is not there yet.
ProblemFile read_problem(const std::string& file);

}  // namespace fmbem::cli
