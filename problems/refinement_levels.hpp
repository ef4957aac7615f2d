#pragma once

#include <functional>

#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// How many levels below the finest are solved for the estimate, if there are that many.
inline constexpr int coarser_levels = 2;

/// The mesh after `level` refinements, each of which halves its size.
using MeshOfLevel = std::function<SurfaceMesh(int level)>;

/// Solves on up to coarser_levels meshes below the finest, the coarsest first, and returns the
/// finest, on which nothing is solved yet. That one is asked for first: what cannot be read or is
/// too large for the dense operator is refused before anything is solved. Throws InputError.
SurfaceMesh solve_coarser_levels(const MeshOfLevel& mesh_of_level, int finest,
                                 const LayerOptions& options,
                                 const std::function<void(const SurfaceMesh&)>& solve);

/// Drops panels and densities, which a coarser level's report does not need.
void drop_densities(ConductorSolution& solution);
void drop_densities(ProblemSolution& solution);

/// The order that charges converge with when meshes are fine enough: 2 for closed bodies, if they
/// are smooth, and 1 for open ones, whose density is infinite at their edges.
double highest_order(const SurfaceMesh& mesh);

}  // namespace fmbem
