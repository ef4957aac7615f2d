#include "cli/bind_report.hpp"

#include "cli/energies.hpp"
#include "cli/solvate_report.hpp"

namespace fmbem::cli {
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
