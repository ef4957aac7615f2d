#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/conductor_forces.hpp"

namespace fmbem::cli {

/// A problem's file (docs/problems.md).
struct ProblemFile {
  Json json;  ///< as it is, for the report
  BoundaryProblem problem;
  std::vector<BodyOfGroups> bodies;       ///< on which forces are asked for
  std::vector<std::string> data_files{};  ///< that it names, with values of panels
};

/// Throws InputError for a file with what fmbem solve alone can do: complex permittivities, other
/// formulations than the single layer, and bodies.
void refuse_what_solve_does(const ProblemFile& problem, const std::string& file);

/// Throws InputError that names the file and the place in it, for what is no JSON, keys that are
/// unknown, missing or there twice, values of another kind, expressions that do not parse.
ProblemFile read_problem(const std::string& file);

}  // namespace fmbem::cli
