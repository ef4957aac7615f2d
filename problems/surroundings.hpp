#pragma once

#include "fmbem/meshes/write_points.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// surroundings() of a mesh and of the ground planes before which it lies, as far as the points
/// reach; of planes interfaces between media apart from all else.
Surroundings surroundings(const SurfaceMesh& mesh, const ProblemSolution& solution,
                          const PointSet& set);

}  // namespace fmbem
