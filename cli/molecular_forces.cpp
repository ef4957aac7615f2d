#include "cli/molecular_forces.hpp"

#include <sstream>

#include "fmbem/meshes/csv_table.hpp"

namespace fmbem::cli {
namespace {

std::string with_four_digits(Vec3d v) {
  std::ostringstream text;
  text.precision(4);
  text << '(' << v.x << ", " << v.y << ", " << v.z << ')';
  return text.str();
}

}  // namespace

std::string forces_text(const SolvationForces& forces) {
  std::string text;
  for (const SoluteForce& solute : forces.solutes)
    text += "\nforce     on " + solute.name + ": " + with_four_digits(solute.force) +
            " kcal/(mol angstrom), torque " + with_four_digits(solute.torque) +
            " kcal/mol;\n          of the reaction field on its atoms " +
            with_four_digits(solute.on_charges) + ", of pressure on its surfaces " +
            with_four_digits(solute.on_surfaces);
  return text;
}

void add_forces(Json& results, const SolvationForces& forces) {
  const char* unit = "kcal/(mol angstrom)";
  Json names = Json::array(), about = names, force = names, torque = names, on_charges = names,
       on_surfaces = names, on_atoms = names;
  for (const SoluteForce& solute : forces.solutes) {
    names.push_back(solute.name);
    about.push_back(coordinates(solute.about));
    force.push_back(coordinates(solute.force));
    torque.push_back(coordinates(solute.torque));
    on_charges.push_back(coordinates(solute.on_charges));
    on_surfaces.push_back(coordinates(solute.on_surfaces));
  }
  for (const Vec3d& on_atom : forces.on_atoms) on_atoms.push_back(coordinates(on_atom));
  results["molecules"] = result_json(names, "1");
  results["force_kcal_per_mol_angstrom"] = result_json(force, unit);
  results["torque_kcal_per_mol"] = result_json(torque, "kcal/mol");
  results["torque_about"] = result_json(about, "angstrom");
  results["reaction_force_on_atoms_kcal_per_mol_angstrom"] = result_json(on_charges, unit);
  results["pressure_force_kcal_per_mol_angstrom"] = result_json(on_surfaces, unit);
  results["reaction_force_kcal_per_mol_angstrom"] = result_json(on_atoms, unit, "point");
}

void write_forces(const std::string& path, const SolvationForces& forces,
                  const Molecule& molecule) {
  std::vector<std::string> header = atom_columns();
  for (const char* axis : {"Fx", "Fy", "Fz"})
    header.push_back(std::string(axis) + " [kcal/(mol angstrom)]");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    rows.push_back(atom_fields(molecule.atoms[a]));
    for (int axis = 0; axis < 3; ++axis)
      rows.back().push_back(shortest_digits(forces.on_atoms[a][axis]));
  }
  write_csv_table(path, header, rows);
}

std::vector<PanelField> pressure_fields(const Solvation& solvation, const SolvationForces& forces) {
  const char* unit = " [kcal/(mol angstrom^3)]";
  return {{std::string("dielectric pressure") + unit,
           solvation.panels.to_input_order(forces.dielectric_pressure)},
          {std::string("osmotic pressure") + unit,
           solvation.panels.to_input_order(forces.osmotic_pressure)}};
}

}  // namespace fmbem::cli
