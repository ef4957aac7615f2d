#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/solvation/binding.hpp"

namespace fmbem::cli {

/// One of the three that fmbem bind solves for.
struct BindingPart {
  std::string name;  ///< "complex", "receptor", "ligand"
  Molecule molecule;
  SurfaceMesh mesh{};
  Solvation solvation{};
};

/// Energies of a part, a line each.
std::string part_text(const BindingPart& part);
/// Those of binding, with the digits that solves leave.
std::string binding_text(const BindingEnergies& binding, const SolvationModel& model);

/// {complex: {…}, receptor: {…}, ligand: {…}}, each as "solvation" is in reports of solvate.
Json parts_json(const std::vector<BindingPart>& parts);
Json binding_json(const std::vector<BindingPart>& parts, const BindingEnergies& binding);

}  // namespace fmbem::cli
