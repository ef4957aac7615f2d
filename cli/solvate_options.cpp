#include "cli/solvate_options.hpp"

#include "cli/picture_options.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

void add_files(CLI::App& app, SolvateOptions& options) {
  app.add_option("MOLECULE", options.molecule, "atoms with charges and radii (.pqr)")->required();
  app.add_option("--surface", options.surfaces,
                 "a surface of the molecule, in angstrom: .vert or .face of MSMS, .off, .ply, "
                 ".stl, .msh or what else fmbem reads; once more for each of its cavities, for a "
                 "layer that ions do not reach, and for other molecules")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->required();
  app.add_option("--extrapolate", options.extrapolate,
                 "the same surface on coarser meshes, the coarsest first: energies are "
                 "extrapolated to meshes without end; as often as --surface, in its order")
      ->type_name("FILE,...")
      ->allow_extra_args(false);
  app.add_option("--sites", options.sites,
                 "a .pqr whose residues are sets of charges in the molecule: energies of each in "
                 "the reaction field of each, on the finest mesh")
      ->type_name("FILE");
}

void add_outputs(CLI::App& app, SolvateOptions& options) {
  app.add_option(
         "--output", options.file,
         "potential and normal field per panel and vertex, for ParaView (.vtu) or Gmsh (.msh)")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option(
         "--potentials", options.potentials,
         "reaction potentials of atoms, in kT/e: as one more column of the molecule (.pqr), "
         "or as a table (.csv)")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option("--site-energies", options.site_energies,
                 "the matrix of --sites, in kcal/mol (.csv, .npy)")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option("--forces", options.forces,
                 "forces of the reaction field on atoms (.csv); the report then has those between "
                 "molecules, and --output pressures on surfaces")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option("--volume", options.volume, "potential on a grid, in kT/e (.dx)")
      ->type_name("FILE")
      ->group(output_group);
  app.add_option("--spacing", options.spacing, "of the grid of --volume, in angstrom (default: 1)")
      ->type_name("H")
      ->group(output_group);
  app.add_option("--margin", options.margin,
                 "of that grid around the surfaces, in angstrom (default: 10)")
      ->type_name("D")
      ->group(output_group);
  app.add_option("--view", options.view,
                 "a script that opens molecule and surface, red to blue by its potential, in "
                 "PyMOL (.pml), ChimeraX (.cxc) or VMD (.tcl)")
      ->type_name("FILE")
      ->group(output_group);
  add_picture_option(app, options.picture);
  add_range_option(app, options.range, "of --picture and --view")->group(output_group);
}

}  // namespace

void add_medium_options(CLI::App& app, SolvationModelOptions& options) {
  SolvationModel& model = options.model;
  app.add_option("--permittivity-inside", model.permittivity_inside, "relative, of the molecule")
      ->type_name("EPS")
      ->capture_default_str();
  app.add_option("--permittivity-outside", model.permittivity_outside,
                 "relative, of the solvent, in cavities and the layer without ions, too")
      ->type_name("EPS")
      ->capture_default_str();
  app.add_option("--ionic-strength", options.ionic_strength,
                 "of the solvent, in mol/L, from which kappa follows (default: no ions)")
      ->type_name("M");
  app.add_option("--kappa", options.kappa,
                 "instead of that the inverse of Debye's length, in 1/angstrom; 0 is Poisson's "
                 "equation")
      ->type_name("K");
  app.add_option("--temperature", model.temperature, "in kelvin: of kT and of kappa")
      ->type_name("T")
      ->capture_default_str();
}

void add_model_options(CLI::App& app, SolvationModelOptions& options) {
  add_medium_options(app, options);
  SolvationModel& model = options.model;
  add_choice(app, "--formulation", model.formulation,
             {{"direct", SolvationFormulation::direct},
              {"juffer", SolvationFormulation::juffer},
              {"lu", SolvationFormulation::lu}},
             "equations: Green's identities (direct), or with their derivatives (juffer, lu)");
  app.add_option("--energy-constant", model.energy_constant,
                 "energy of two unit charges at 1 angstrom in vacuum, in kcal/mol; packages differ "
                 "in its fourth digit")
      ->type_name("C")
      ->default_str("332.0637133");
}

void add_solvate_options(CLI::App& app, SolvateOptions& options) {
  add_files(app, options);
  add_model_options(app, options.model);
  add_outputs(app, options);
  add_solve_options(app, options.solve);
  add_output_options(app, options.output);
}

bool SolvationModelOptions::is_given() const {
  const SolvationModel standard;
  return kappa || ionic_strength || model.permittivity_inside != standard.permittivity_inside ||
         model.permittivity_outside != standard.permittivity_outside ||
         model.temperature != standard.temperature;
}

SolvationModel model_of(const SolvationModelOptions& options) {
  FMBEM_REQUIRE(!options.kappa || !options.ionic_strength,
                "--kappa and --ionic-strength exclude each other: one follows from the other");
  SolvationModel model = options.model;
  if (options.ionic_strength)
    model.kappa = kappa_of(*options.ionic_strength, model.permittivity_outside, model.temperature);
  if (options.kappa) model.kappa = *options.kappa;
  model.check();
  return model;
}

void refuse_lean(SolvationFormulation formulation, const OperatorOptions& op) {
  FMBEM_REQUIRE(formulation == SolvationFormulation::direct ||
                    op.near_field != OperatorOptions::NearField::lean,
                "the formulation " << name_of(formulation)
                                   << " stores near fields: leave out --near-field lean");
}

std::vector<std::vector<std::string>> surface_levels(const SolvateOptions& options) {
  std::vector<std::vector<std::string>> levels;
  if (!options.extrapolate.empty()) {
    FMBEM_REQUIRE(options.extrapolate.size() == options.surfaces.size(),
                  "--extrapolate is given for " << options.extrapolate.size() << " of "
                                                << options.surfaces.size()
                                                << " surfaces: it goes with each --surface");
    for (const std::string& text : options.extrapolate) {
      const std::vector<std::string> coarser = split_at_commas(text);
      if (levels.empty()) levels.resize(coarser.size());
      FMBEM_REQUIRE(coarser.size() == levels.size(),
                    "--extrapolate has lists of different lengths, such as " << text);
      for (std::size_t level = 0; level < levels.size(); ++level)
        levels[level].push_back(coarser[level]);
    }
  }
  levels.push_back(options.surfaces);
  return levels;
}

}  // namespace fmbem::cli
