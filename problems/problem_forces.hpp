#pragma once

#include <cstddef>
#include <vector>

#include "fmbem/problems/conductor_forces.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// Throws InputError where forces are not found, whatever the mesh is: for conductivities, losses,
/// other formulations than the single layer, and dipoles and lines among the sources.
void check_forces(const BoundaryProblem& problem);

/// find_forces() of one result of a problem by the single layer. Bodies are those asked for or,
/// where none are, each conductor that a region surrounds and each group that is a closed
/// interface. Throws InputError as that and check_forces() do, for unknown groups and those of two
/// bodies, and bodies that no region surrounds.
Forces problem_forces(const SurfaceMesh& mesh, const ProblemSolution& solution, std::size_t result,
                      const std::vector<BodyOfGroups>& bodies = {},
                      const ForceOptions& options = {});

}  // namespace fmbem
