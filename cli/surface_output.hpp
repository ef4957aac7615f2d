#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/write.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::cli {

/// What files and pictures of surfaces have of a solution: charge densities of conductors alone, of
/// a problem what --surface has. Of several solutions each is named.
std::vector<PanelField> panel_fields(const ProblemSolution& solution);

/// Throws InputError for a path that no surface can be written to.
void check_surface_path(const std::string& file);
/// Writes --surface: .vtu, .msh, or the array [results][panels][4] of density, potential and flux
/// densities (.npy).
void write_surface(const std::string& file, const SurfaceMesh& mesh,
                   const ProblemSolution& solution);

}  // namespace fmbem::cli
