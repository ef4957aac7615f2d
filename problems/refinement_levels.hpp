#pragma once

#include <functional>

#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// Levels below the finest that are solved for the estimate, where there are so many.
inline constexpr int coarser_levels = 2;

/// The mesh after `level` refinements, each of which halves its size.
using MeshOfLevel = std::function<SurfaceMesh(int level)>;

/// Solves on up to coarser_levels meshes below the finest, the coarsest first, and returns the
/// finest, on which nothing is solved yet. That one is asked for first: what cannot be read or is
/// too large for the dense operator is refused before anything is solved. Throws InputError.
SurfaceMesh solve_coarser_levels(const MeshOfLevel& mesh_of_level, int finest,
                                 const LayerOptions& options,
                                 const std::function<void(const SurfaceMesh&)>& solve);

/// What a coarser level's report needs is little: drops panels and densities.
void drop_densities(ConductorSolution& solution);

/// What uniform refinement ends up with, for charges: 2 for closed bodies, if they are smooth, and
/// 1 for open ones, as the density is infinite at their edges.
double highest_order(const SurfaceMesh& mesh);

}  // namespace fmbem
