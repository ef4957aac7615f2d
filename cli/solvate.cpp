#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "cli/molecular_forces.hpp"
#include "cli/site_report.hpp"
#include "cli/solvate_options.hpp"
#include "cli/solvate_outputs.hpp"
#include "cli/solvate_report.hpp"
#include "cli/solve_report.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

LayerOptions solvation_options(SolveRun& job, std::size_t levels) {
  const ConductorOptions all = job.options();
  LayerOptions how = static_cast<const LayerOptions&>(all);
  how.started = [&job, levels, level = std::size_t{0}](std::size_t panels) mutable {
    ++level;
    const std::string which =
        levels > 1 ? "mesh " + std::to_string(level) + " of " + std::to_string(levels) + ", " : "";
    job.console().begin_phase(which + counted(panels, "panel"));
  };
  return how;
}

/// What colours of pictures and scripts mean; nothing where there are none.
std::string colours_text(const SolvateOptions& options) {
  const std::optional<double> range = drawn_range(options);
  if (!range) return "";
  const std::string end = decimal(*range);
  return "\ncolours   potentials from red at -" + end + " over white at 0 to blue at " + end +
         " kT/e";
}

ExitCode run(Context& context, const SolvateOptions& options) {
  SolveRun job(context, "solvate", options);
  const SolvationModel model = model_of(options.model);
  refuse_lean(model.formulation, options.solve.problem.op);
  const std::vector<std::vector<std::string>> levels = surface_levels(options);
  check_outputs(job, options, levels);
  const Molecule molecule = read_pqr(options.molecule);
  job.add_input(options.molecule);
  std::vector<ChargeSet> sites;
  if (options.sites) {
    sites = charge_sets_of(read_pqr(*options.sites));
    job.add_input(*options.sites);
  }
  job.start();

  const LayerOptions how = solvation_options(job, levels.size());
  std::vector<EnergyLevel> energies;
  SurfaceMesh mesh;
  Solvation solvation;
  bool converged = true;
  for (const std::vector<std::string>& files : levels) {
    mesh = job.load_joined(files);
    const bool is_finest = energies.size() + 1 == levels.size();
    solvation =
        solvate(mesh, molecule, model, how,
                is_finest ? std::span<const ChargeSet>(sites) : std::span<const ChargeSet>());
    converged = converged && solvation.converged;
    energies.push_back(
        {mesh.triangles.size(), solvation.solvation_energy, solvation.solves[0].iterations});
  }
  for (const std::string& sentence : molecule.notices)
    notice(job.console(), job.report(), sentence);
  for (const std::string& sentence : solvation.regions.notices)
    warn(job.console(), job.report(), sentence);
  std::optional<SolvationForces> forces;
  // A run that is repeated writes none, and compares what is in the report of them.
  if (options.forces || context.earlier_results.contains("molecules"))
    forces = find_solvation_forces(solvation, molecule);
  std::vector<std::string> problems{"the molecule"};
  for (const ChargeSet& set : sites) problems.push_back("the site " + set.name);
  job.tell(solvation, mesh, problems,
           energies_text(solvation, energies) + (forces ? forces_text(*forces) : "") +
               sites_text(solvation.site_energies),
           regions_text(solvation, molecule) + colours_text(options));
  job.report()["solvation"] = model_json(solvation, molecule, energies);
  if (const std::optional<double> range = drawn_range(options))
    job.report()["solvation"]["drawn_range_kT_per_e"] = *range;
  const SolvedMolecule solved{mesh,  solvation, molecule,
                              sites, forces,    solvation_fields(solvation)};
  put_out(job, options, solved);
  Json results = solvation_json(solvation, molecule, energies);
  if (forces) add_forces(results, *forces);
  if (!sites.empty()) add_sites(results, sites, solvation.site_energies);
  const ExitCode code =
      job.finish(solvation, converged, std::move(results), solvation.potential_seconds);
  draw(job, options, solved);
  return code;
}

}  // namespace

Command add_solvate(CLI::App& program) {
  auto options = std::make_shared<SolvateOptions>();
  options->solve.problem.solver.tolerance = 1e-5;  // far below what surfaces leave
  CLI::App* app = program.add_subcommand(
      "solvate", "Solvation energy of a molecule in its surface (Poisson-Boltzmann)");
  add_footer(
      *app,
      "\n  fmbem solvate ion.pqr --surface ion.face --permittivity-inside 1 --json -"
      "\n  fmbem solvate 1bpi.pqr --surface 1bpi.vert --ionic-strength 0.15 --output 1bpi.vtu"
      "\n  fmbem solvate lys.pqr --surface lys.face --surface cavity.face --surface stern.face "
      "--kappa 0.125",
      "docs/biomolecules.md explains what is computed and how far to trust it.\n");
  add_solvate_options(*app, *options);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
