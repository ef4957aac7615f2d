#include "cli/solvate_report.hpp"

#include <cmath>
#include <iomanip>
#include <map>
#include <sstream>

#include "cli/energies.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/csv_table.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

const char* name_of(SoluteRegion::Kind kind) {
  switch (kind) {
    case SoluteRegion::Kind::solvent:
      return "solvent";
    case SoluteRegion::Kind::solvent_no_ions:
      return "solvent without ions";
    case SoluteRegion::Kind::solute:
      return "solute";
  }
  return "";
}

/// Of a residue ½ Σ q φ of the reaction, kcal/mol, and the mean of φ over its atoms.
struct ResidueEnergy {
  double energy = 0;
  double potential = 0;
};
ResidueEnergy energy_of(const Residue& residue, const Solvation& solvation,
                        const Molecule& molecule) {
  ResidueEnergy result;
  for (const std::size_t a : residue.atoms) {
    result.energy += 0.5 * molecule.atoms[a].charge * solvation.reaction[a];
    result.potential += solvation.reaction[a];
  }
  result.potential /= static_cast<double>(residue.atoms.size());
  return result;
}

Json at_atoms(Json value, const std::string& unit) {
  return {{"value", std::move(value)}, {"unit", unit}, {"location", "point"}};
}

}  // namespace

std::string regions_text(const Solvation& solvation, const Molecule& molecule) {
  const SolvationModel& model = solvation.model;
  std::ostringstream out;
  out << "\nmolecule  " << molecule.file << ": " << counted(molecule.atoms.size(), "atom")
      << ", charge " << decimal(molecule.charge()) << " e";
  const char* before = "\nregions   ";
  for (const SoluteRegion& region : solvation.regions.regions) {
    out << before << name_of(region.kind)
        << (region.outer < 0 ? " around everything"
                             : " in " + solvation.regions.surfaces[region.outer]);
    if (!region.atoms.empty()) out << ": " << counted(region.atoms.size(), "atom");
    before = "\n          ";
  }
  out << "\nmedium    permittivities " << decimal(model.permittivity_inside) << " inside and "
      << decimal(model.permittivity_outside) << " outside, kappa " << decimal(model.kappa)
      << " / angstrom, " << decimal(model.temperature) << " K, energy constant "
      << std::setprecision(10) << model.energy_constant << " kcal angstrom/(mol e^2)";
  return out.str();
}

std::string energies_text(const Solvation& solvation, const std::vector<EnergyLevel>& levels) {
  const SolvationModel& model = solvation.model;
  std::string text;
  const char* before = "\nlevels    ";
  if (levels.size() > 1)
    for (const EnergyLevel& level : levels) {
      std::ostringstream line;
      line << std::exchange(before, "\n          ") << counted(level.panels, "panel") << ": "
           << counted(level.iterations, "iteration") << ", " << std::fixed << std::setprecision(4)
           << level.energy << " kcal/mol";
      text += line.str();
    }
  text += energy_text("solvation", solvation.solvation_energy, model) +
          energy_text("Coulomb", solvation.coulomb_energy, model) +
          energy_text("total", solvation.total_energy(), model);
  if (levels.size() > 1) {
    const ExtrapolatedEnergy limit = extrapolate_energy(levels);
    text += energy_text("limit", limit.energy, model) +
            ": of solvation, extrapolated; estimated error " + decimal(limit.error) + " kcal/mol";
  }
  return text;
}

Json model_json(const Solvation& solvation, const Molecule& molecule,
                const std::vector<EnergyLevel>& levels) {
  const SolvationModel& model = solvation.model;
  Json regions = Json::array();
  for (const SoluteRegion& region : solvation.regions.regions) {
    Json inner = Json::array();
    for (const int surface : region.inner) inner.push_back(solvation.regions.surfaces[surface]);
    regions.push_back({{"kind", name_of(region.kind)},
                       {"outer", region.outer < 0 ? Json(nullptr)
                                                  : Json(solvation.regions.surfaces[region.outer])},
                       {"inner", inner},
                       {"atoms", region.atoms.size()}});
  }
  Json of_levels = Json::array();
  for (const EnergyLevel& level : levels)
    of_levels.push_back({{"panels", level.panels},
                         {"iterations", level.iterations},
                         {"solvation_energy_kcal_per_mol", number(level.energy)}});
  return {{"molecule", molecule.file},
          {"atoms", molecule.atoms.size()},
          {"charge_e", molecule.charge()},
          {"formulation", name_of(model.formulation)},
          {"permittivity_inside", model.permittivity_inside},
          {"permittivity_outside", model.permittivity_outside},
          {"kappa_per_angstrom", model.kappa},
          {"temperature_K", model.temperature},
          {"energy_constant_kcal_angstrom_per_mol", model.energy_constant},
          {"regions", regions},
          {"levels", of_levels}};
}

Json solvation_json(const Solvation& solvation, const Molecule& molecule,
                    const std::vector<EnergyLevel>& levels) {
  const double kt = solvation.model.thermal_energy();
  Json json;
  const std::pair<const char*, double> energies[] = {
      {"solvation_energy", solvation.solvation_energy},
      {"coulomb_energy", solvation.coulomb_energy},
      {"total_energy", solvation.total_energy()}};
  for (const auto& [name, energy] : energies) add_energy(json, name, energy, solvation.model);
  if (levels.size() > 1) {
    const ExtrapolatedEnergy limit = extrapolate_energy(levels);
    Json value = result_json(number(limit.energy), "kcal/mol");
    value["error"] = Json::array({number(limit.error)});
    json["extrapolated_solvation_energy_kcal_per_mol"] = value;
  }
  std::vector<double> potentials = solvation.reaction;
  for (double& potential : potentials) potential /= kt;
  json["reaction_potential_kT_per_e"] = at_atoms(numbers(potentials), "kT/e");
  Json names = Json::array(), of_residues = Json::array(), means = Json::array();
  for (const Residue& residue : residues_of(molecule.atoms)) {
    const ResidueEnergy of_residue = energy_of(residue, solvation, molecule);
    names.push_back(residue.title);
    of_residues.push_back(number(of_residue.energy));
    means.push_back(number(of_residue.potential / kt));
  }
  json["residues"] = at_atoms(names, "1");
  json["residue_solvation_energy_kcal_per_mol"] = at_atoms(of_residues, "kcal/mol");
  json["residue_reaction_potential_kT_per_e"] = at_atoms(means, "kT/e");
  return json;
}

std::vector<PanelField> solvation_fields(const Solvation& solvation) {
  const double kt = solvation.model.thermal_energy();
  const auto in_input_order = [&](LargeVector<double> values) {
    for (double& value : values) value /= kt;
    return solvation.panels.to_input_order(values);
  };
  return {{"potential [kT/e]", in_input_order(solvation.potential)},
          {"normal field inside [kT/(e angstrom)]", in_input_order(solvation.normal_field)}};
}

void write_potentials(const std::string& path, const Solvation& solvation,
                      const Molecule& molecule) {
  std::vector<double> potential = solvation.reaction;
  for (double& value : potential) value /= solvation.model.thermal_energy();
  if (ending(path) == "pqr")
    return write_pqr(path, molecule.atoms, potential,
                     "the column behind the radius is the reaction potential in kT/e at " +
                         decimal(solvation.model.temperature) + " K");
  std::vector<std::string> header = atom_columns();
  header.insert(header.end(), {"reaction potential [kT/e]", "solvation energy [kcal/mol]"});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    rows.push_back(atom_fields(molecule.atoms[a]));
    rows.back().push_back(shortest_digits(potential[a]));
    rows.back().push_back(shortest_digits(0.5 * molecule.atoms[a].charge * solvation.reaction[a]));
  }
  write_csv_table(path, header, rows);
}

}  // namespace fmbem::cli
