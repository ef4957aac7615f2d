#include <algorithm>
#include <memory>

#include "cli/capacitance_report.hpp"
#include "cli/picture_options.hpp"
#include "cli/problem_report.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "cli/surface_output.hpp"
#include "fmbem/meshes/write.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "fmbem/problems/problem_conditions.hpp"

namespace fmbem::cli {
namespace {

struct CapacitanceArguments : SolveCommandOptions {
  std::optional<std::string> file, picture;
  SpiceOptions spice;
};

std::vector<std::string> names_of(const std::vector<Conductor>& conductors) {
  std::vector<std::string> names;
  for (const Conductor& conductor : conductors) names.push_back(conductor.name);
  return names;
}

/// Whether there are data that capacitances do without: sources, and values on walls.
bool has_other_data(const SurfaceMesh& mesh, const ProblemSolution& solution) {
  const BoundaryProblem& problem = solution.problem;
  if (!problem.sources.empty() || norm2(problem.field) > 0) return true;
  const Panels& panels = solution.panels;
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (const GroupCondition& condition : problem.groups) {
      const auto panel = static_cast<std::size_t>(panels.input_index[i]);
      if (!condition.value || condition.group != mesh.groups[mesh.group_of[panel]].name) continue;
      if (condition.value(surface_point(panels, i)) != 0) return true;
    }
  return false;
}

ExitCode run(Context& context, const CapacitanceArguments& options) {
  SolveRun job(context, "capacitance", options);
  job.check_outputs({{"--output", options.file},
                     {"--picture", options.picture},
                     {"--spice", options.spice.file}});
  if (options.file) check_output_path(*options.file);
  check_picture(options.picture);
  check_spice(options.spice);
  job.start();
  FMBEM_REQUIRE(!job.file() || !job.file()->problem.conducts(),
                *options.problem << " has regions with conductivities, and no capacitances: use "
                                    "fmbem solve --basis for conductances");
  if (job.file()) refuse_what_solve_does(*job.file(), *options.problem);

  const MeshOfLevel mesh_of_level = job.load();
  const CapacitanceOfLevels result =
      job.file() ? solve_capacitance_levels(mesh_of_level, options.mesh.refine, job.file()->problem,
                                            job.options())
                 : solve_capacitance_levels(mesh_of_level, options.mesh.refine, job.options());
  const CapacitanceSolution& solution = result.solution;
  job.tell(solution, result.mesh, names_of(solution.conductors), capacitance_text(result));
  if (!result.coarser.empty()) job.report()["levels"] = levels_json(result);
  if (solution.converged && !result.converged) warn_of_coarser_level(job.console(), job.report());
  warn_of_problem(job.console(), job.report(), solution);
  if (options.hand_on.save && has_other_data(result.mesh, solution))
    warn(job.console(), job.report(),
         *options.hand_on.save +
             " has the conductors at 1 V alone, without sources and data of "
             "walls: fmbem solve --basis --save keeps these, too");
  if (options.file) {
    write_mesh(*options.file, result.mesh, panel_fields(solution));
    job.console().print_wrote(*options.file);
  }
  if (options.hand_on.csv) {
    write_capacitance_csv(*options.hand_on.csv, result);
    job.console().print_wrote(*options.hand_on.csv);
  }
  if (options.spice.file) {
    write_spice_file(options.spice, result);
    job.console().print_wrote(*options.spice.file);
  }
  const ExitCode code =
      job.finish(solution, result.converged, results_json(result), {}, result.mesh);
  draw_result(job.console(), options.picture, [&](const std::string& path) {
    return write_vtu(path, result.mesh, panel_fields(solution));
  });
  return code;
}

}  // namespace

Command add_capacitance(CLI::App& program) {
  auto options = std::make_shared<CapacitanceArguments>();
  CLI::App* app = program.add_subcommand(
      "capacitance", "Capacitance matrix and charge densities of the conductors of a mesh");
  add_footer(*app,
             "\n  fmbem capacitance examples/cube.geo --refine 1 --output cube.vtu"
             "\n  fmbem capacitance bus.step --mesh-size 0.2mm --conductor net=VDD,plane --json -"
             "\n  fmbem capacitance examples/coated.geo --problem examples/coated.json"
             "\n  fmbem capacitance sphere.msh --unit mm --tolerance 1e-10 -ksp_monitor");
  add_mesh_options(*app, options->mesh);
  add_problem_option(*app, *options,
                     "regions and conditions of groups, whose conductors are at 1 V one after the "
                     "other (docs/problems.md)");
  add_conductor_option(*app, options->solve);
  add_solve_options(*app, options->solve);
  app->add_option("--permittivity", options->solve.problem.permittivity,
                  "relative permittivity of the space around the conductors")
      ->capture_default_str();
  app->add_option("--output", options->file,
                  "charge density per panel, for ParaView (.vtu) or Gmsh (.msh)")
      ->type_name("FILE")
      ->group(output_group);
  add_picture_option(*app, options->picture);
  add_spice_options(*app, options->spice);
  add_hand_on_options(*app, options->hand_on);
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
