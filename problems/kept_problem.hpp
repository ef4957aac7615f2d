#pragma once

#include "fmbem/problems/kept_arrays.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

// What the file of a solution has of a boundary value problem: "regions" and "groups", which say
// where is what, and of each result what belongs to it alone.

void add_problem(Hdf5Image& image, const SurfaceMesh& mesh, const ProblemSolution& solution);

/// Completes a solution whose mesh, conductors, planes and densities have been read. Of the problem
/// it has regions, sides and kinds of conditions, and no data.
void read_problem(const KeptArrays& arrays, const SurfaceMesh& mesh, ProblemSolution& solution);

}  // namespace fmbem
