#include "cli/bind_report.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>

#include "cli/energies.hpp"
#include "cli/solvate_report.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

std::string contents_of(std::size_t atoms, double charge) {
  // Charges of forcefields add up to whole numbers but for their rounding.
  return counted(atoms, "atom") + " of together " + decimal(std::round(1e4 * charge) / 1e4) + " e";
}

std::vector<double> sorted_charges(std::span<const BindingPart> parts) {
  std::vector<double> charges;
  for (const BindingPart& part : parts)
    for (const Atom& atom : part.molecule.atoms) charges.push_back(atom.charge);
  std::sort(charges.begin(), charges.end());
  return charges;
}

}  // namespace

std::string atoms_differ(const std::vector<BindingPart>& parts) {
  const std::size_t whole = parts[0].molecule.atoms.size();
  const std::size_t of_both = parts[1].molecule.atoms.size() + parts[2].molecule.atoms.size();
  const double charge = parts[0].molecule.charge();
  const double of_charges = parts[1].molecule.charge() + parts[2].molecule.charge();
  const std::string needed = ": energies of binding need the same atoms with the same charges";
  if (whole != of_both || std::abs(charge - of_charges) >= 1e-3)
    return "the complex has " + contents_of(whole, charge) + ", receptor and ligand " +
           contents_of(of_both, of_charges) + needed;
  const std::span<const BindingPart> all(parts);
  const std::vector<double> together = sorted_charges(all.first(1)),
                            apart = sorted_charges(all.subspan(1));
  for (std::size_t i = 0; i < whole; ++i)
    if (std::abs(together[i] - apart[i]) >= 1e-3)
      return "of the charges, in ascending order, number " + std::to_string(i + 1) + " is " +
             decimal(together[i]) + " e in the complex and " + decimal(apart[i]) +
             " e in receptor and ligand" + needed;
  return "";
}

std::string part_text(const BindingPart& part) {
  const Solvation& solvation = part.solvation;
  return energy_text("solvation", solvation.solvation_energy, solvation.model) +
         energy_text("Coulomb", solvation.coulomb_energy, solvation.model);
}

std::string binding_text(const BindingEnergies& binding, const SolvationModel& model) {
  return "\nbinding: the complex less receptor and ligand" +
         energy_text("solvation", binding.solvation, binding.error, model) +
         energy_text("Coulomb", binding.coulomb, model) +
         energy_text("total", binding.total(), binding.error, model);
}

Json parts_json(const std::vector<BindingPart>& parts) {
  Json json;
  for (const auto& [name, molecule, mesh, solvation] : parts)
    json[name] = model_json(
        solvation, molecule,
        {{mesh.triangles.size(), solvation.solvation_energy, solvation.solves[0].iterations}});
  return json;
}

Json binding_json(const std::vector<BindingPart>& parts, const BindingEnergies& binding) {
  const SolvationModel& model = parts[0].solvation.model;
  Json json, solvation = Json::array(), coulomb = Json::array();
  add_energy(json, "binding_solvation_energy", binding.solvation, model, binding.error);
  add_energy(json, "binding_coulomb_energy", binding.coulomb, model, {});
  add_energy(json, "binding_energy", binding.total(), model, binding.error);
  for (const BindingPart& part : parts) {
    solvation.push_back(number(part.solvation.solvation_energy));
    coulomb.push_back(number(part.solvation.coulomb_energy));
  }
  json["solvation_energy_kcal_per_mol"] = result_json(solvation, "kcal/mol");
  json["coulomb_energy_kcal_per_mol"] = result_json(coulomb, "kcal/mol");
  return json;
}

}  // namespace fmbem::cli
