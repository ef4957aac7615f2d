#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "fmbem/problems/solvation/solvation_forces.hpp"

namespace fmbem::cli {

/// A line for each molecule.
std::string forces_text(const SolvationForces& forces);

void add_forces(Json& results, const SolvationForces& forces);

/// A row for each atom.
void write_forces(const std::string& path, const SolvationForces& forces, const Molecule& molecule);

/// Pressures of panels in the mesh's order.
std::vector<PanelField> pressure_fields(const Solvation& solvation, const SolvationForces& forces);

}  // namespace fmbem::cli
