#pragma once

#include <vector>

#include "fmbem/meshes/dx_file.hpp"
#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem {

/// Of a solved problem the potential at the points of a grid, in their order, kcal/(mol e):
/// potential_at(), with half the spacing as least distance, so that it is finite.
std::vector<double> potential_on_grid(const Solvation& solved, const Molecule& molecule,
                                      const RegularGrid& grid);

}  // namespace fmbem
