#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "fmbem/problems/solvation/extrapolate_energy.hpp"
#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem::cli {

/// What is in which surfaces, and the medium around.
std::string regions_text(const Solvation& solvation, const Molecule& molecule);

/// Energies in three units, on each level where there are several, and extrapolated.
std::string energies_text(const Solvation& solvation, const std::vector<EnergyLevel>& levels);

/// {molecule, permittivities, kappa, …}: everything that energies depend on, for the report.
Json model_json(const Solvation& solvation, const Molecule& molecule,
                const std::vector<EnergyLevel>& levels);

Json solvation_json(const Solvation& solvation, const Molecule& molecule,
                    const std::vector<EnergyLevel>& levels);

/// φ in kT/e and −∂φ/∂n in kT/(e Å), in the mesh's order.
std::vector<PanelField> solvation_fields(const Solvation& solvation);

/// Reaction potentials as a PQR file or a table, as the ending says.
void write_potentials(const std::string& path, const Solvation& solvation,
                      const Molecule& molecule);

}  // namespace fmbem::cli
