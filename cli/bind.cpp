#include <algorithm>
#include <memory>
#include <utility>

#include "cli/bind_report.hpp"
#include "cli/solvate_options.hpp"
#include "cli/solvate_report.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solvation/binding_atoms.hpp"

namespace fmbem::cli {
namespace {

struct PartOptions {
  std::string name, molecule;
  std::vector<std::string> surfaces{};
};

/// Options of fmbem bind.
struct BindOptions : SolveCommandOptions {
  std::vector<PartOptions> parts{{"complex", ""}, {"receptor", ""}, {"ligand", ""}};
  SolvationModelOptions model;
};

void check_outputs(SolveRun& job, const BindOptions& options) {
  std::vector<std::pair<std::string, std::string>> inputs;
  for (const PartOptions& part : options.parts) {
    inputs.emplace_back(part.name, part.molecule);
    for (const std::string& file : part.surfaces)
      inputs.emplace_back("surface of the " + part.name, file);
  }
  job.check_outputs({}, inputs);
}

/// Reads the surfaces of a part and solves on them.
void solve_part(SolveRun& job, BindingPart& part, const PartOptions& options,
                const SolvationModel& model) {
  const ConductorOptions all = job.options();
  LayerOptions how = static_cast<const LayerOptions&>(all);
  how.started = [&](std::size_t panels) {
    job.console().begin_phase("the " + part.name + ", " + counted(panels, "panel"));
  };
  part.mesh = job.load_joined(options.surfaces);
  part.solvation = solvate(part.mesh, part.molecule, model, how);
}

void tell(SolveRun& job, const BindingPart& part) {
  for (const std::string& sentence : part.molecule.notices)
    notice(job.console(), job.report(), sentence);
  for (const std::string& sentence : part.solvation.regions.notices)
    warn(job.console(), job.report(), sentence);
  job.tell(part.solvation, part.mesh, {"the " + part.name}, part_text(part),
           regions_text(part.solvation, part.molecule));
}

ExitCode run(Context& context, const BindOptions& options) {
  SolveRun job(context, "bind", options);
  const SolvationModel model = model_of(options.model);
  refuse_lean(model.formulation, options.solve.problem.op);
  check_outputs(job, options);
  std::vector<BindingPart> parts;
  for (const PartOptions& part : options.parts) {
    parts.push_back({part.name, read_pqr(part.molecule)});
    job.add_input(part.molecule);
  }
  job.start();
  if (const std::string sentence =
          binding_atoms_differ(parts[0].molecule, parts[1].molecule, parts[2].molecule);
      !sentence.empty())
    warn(job.console(), job.report(), sentence);

  bool converged = true;
  LayerSolution times;  // of all three
  // The complex is the last, so that the report's mesh and solver are its.
  for (const std::size_t k : {1, 2, 0}) {
    BindingPart& part = parts[k];
    solve_part(job, part, options.parts[k], model);
    tell(job, part);
    converged = converged && part.solvation.converged;
    times.setup_seconds += part.solvation.setup_seconds;
    times.assembly_seconds += part.solvation.assembly_seconds;
    times.preconditioner_seconds += part.solvation.preconditioner_seconds;
    times.solve_seconds += part.solvation.solve_seconds;
    times.product_median_seconds = part.solvation.product_median_seconds;
    times.op.processor = part.solvation.op.processor;
    times.device_bytes = std::max(times.device_bytes, part.solvation.device_bytes);
  }
  const BindingEnergies binding =
      find_binding(parts[0].solvation, parts[1].solvation, parts[2].solvation);
  job.console().print_result(binding_text(binding, model));
  job.report()["binding"] = parts_json(parts);
  return job.finish(times, converged, binding_json(parts, binding), {});
}

}  // namespace

Command add_bind(CLI::App& program) {
  auto options = std::make_shared<BindOptions>();
  options->solve.problem.solver.tolerance = 1e-6;  // what is sought are small differences
  CLI::App* app = program.add_subcommand(
      "bind", "Energy of binding, a complex less its parts (Poisson-Boltzmann)");
  add_footer(*app,
             "\n  fmbem bind c.pqr r.pqr l.pqr --complex-surface c.face --receptor-surface r.face"
             " \\\n      --ligand-surface l.face",
             "docs/biomolecules.md explains what is computed and how far to trust it.\n");
  for (PartOptions& part : options->parts) {
    std::string words = part.name;
    for (char& c : words) c = static_cast<char>(c - 'a' + 'A');
    app->add_option(words, part.molecule,
                    "atoms of the " + part.name + " with charges and radii (.pqr)")
        ->required();
  }
  for (PartOptions& part : options->parts)
    app->add_option("--" + part.name + "-surface", part.surfaces,
                    "a surface of the " + part.name +
                        ", as --surface of fmbem solvate; once for each that it has")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->required();
  add_model_options(*app, options->model);
  add_solve_options(*app, options->solve);
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
