#include <memory>
#include <utility>

#include "cli/picture_options.hpp"
#include "cli/solvate_options.hpp"
#include "cli/solvate_report.hpp"
#include "cli/solve_report.hpp"
#include "fmbem/meshes/join.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write.hpp"

namespace fmbem::cli {
namespace {

/// Refuses outputs that would overwrite something or cannot be written.
void check_outputs(const SolveRun& job, const SolvateOptions& options,
                   const std::vector<std::vector<std::string>>& levels) {
  std::vector<std::pair<std::string, std::string>> inputs{{"molecule", options.molecule}};
  for (const std::vector<std::string>& files : levels)
    for (const std::string& file : files) inputs.emplace_back("surface", file);
  job.check_outputs({{"--output", options.file},
                     {"--potentials", options.potentials},
                     {"--picture", options.picture}},
                    inputs);
  if (options.file) check_output_path(*options.file);
  if (options.potentials) check_potentials_path(*options.potentials);
  check_picture(options.picture);
}

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

void put_out(SolveRun& job, const SolvateOptions& options, const SurfaceMesh& mesh,
             const Solvation& solvation, const Molecule& molecule) {
  if (options.file) {
    write_mesh(*options.file, mesh, solvation_fields(solvation));
    job.console().print_wrote(*options.file);
  }
  if (options.potentials) {
    write_potentials(*options.potentials, solvation, molecule);
    job.console().print_wrote(*options.potentials);
  }
  draw_result(job.console(), options.picture, [&](const std::string& path) {
    return write_vtu(path, mesh, solvation_fields(solvation));
  });
}

ExitCode run(Context& context, const SolvateOptions& options) {
  SolveRun job(context, "solvate", options);
  require_cpu("solvate", options.solve.problem.op);
  const SolvationModel model = model_of(options.model);
  const std::vector<std::vector<std::string>> levels = surface_levels(options);
  check_outputs(job, options, levels);
  const Molecule molecule = read_pqr(options.molecule);
  job.add_input(options.molecule);
  job.start();

  const LayerOptions how = solvation_options(job, levels.size());
  std::vector<EnergyLevel> energies;
  SurfaceMesh mesh;
  Solvation solvation;
  bool converged = true;
  for (const std::vector<std::string>& files : levels) {
    mesh = job.load_joined(files);
    solvation = solvate(mesh, molecule, model, how);
    converged = converged && solvation.converged;
    energies.push_back(
        {mesh.triangles.size(), solvation.solvation_energy, solvation.solves[0].iterations});
  }
  for (const std::string& sentence : molecule.notices)
    notice(job.console(), job.report(), sentence);
  for (const std::string& sentence : solvation.regions.notices)
    warn(job.console(), job.report(), sentence);
  job.tell(solvation, mesh, {"the molecule"}, energies_text(solvation, energies),
           regions_text(solvation, molecule));
  job.report()["solvation"] = model_json(solvation, molecule, energies);
  put_out(job, options, mesh, solvation, molecule);
  return job.finish(solvation, converged, solvation_json(solvation, molecule, energies),
                    solvation.potential_seconds);
}

}  // namespace

Command add_solvate(CLI::App& program) {
  auto options = std::make_shared<SolvateOptions>();
  options->solve.problem.op.processor = Processor::cpu;
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
