#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem::cli {

/// A unit of energies of molecules.
struct EnergyUnit {
  std::string name, suffix;  ///< "kJ/mol", and as it ends names in reports
  double in_kilocalories;    ///< kcal/mol
};
std::vector<EnergyUnit> energy_units(const SolvationModel& model);

/// A line with an energy in all units, to 1e-4, or with the digits that its error leaves.
std::string energy_text(const std::string& name, double energy, const SolvationModel& model);
std::string energy_text(const std::string& name, double energy, double error,
                        const SolvationModel& model);

/// Adds NAME_kcal_per_mol and so on, and its error where that is given.
void add_energy(Json& json, const std::string& name, double energy, const SolvationModel& model,
                std::optional<double> error = {});

}  // namespace fmbem::cli
