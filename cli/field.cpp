#include <memory>
#include <optional>
#include <utility>

#include "cli/digits.hpp"
#include "cli/field_options.hpp"
#include "cli/point_report.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_points.hpp"
#include "fmbem/problems/charge_levels.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::cli {
namespace {

struct Options : SolveCommandOptions {
  FieldCommandOptions field;
  std::string file;
};

/// The charges, with the digits that their estimated errors leave, or else four, and the levels.
std::string charges_text(const ChargesOfLevels& levels) {
  std::string text;
  const char* before = levels_heading;
  for (const ChargeLevel& level : levels.coarser)
    text += std::exchange(before, next_level) + level_text(level.panels, level.solution);
  if (!levels.coarser.empty())
    text += before + level_text(levels.mesh.triangles.size(), levels.solution);
  for (std::size_t i = 0; i < levels.charges.size(); ++i) {
    const double charge = levels.charges[i];
    text += "\ncharge    " + levels.solution.conductors[i].name + ": " +
            digits(charge, levels.convergence ? levels.error[i] : error_of_digits(charge, 4)) +
            " C";
  }
  if (!levels.convergence)
    text += "\n          four digits: " + no_estimate(levels.coarser.empty());
  return text;
}

Json levels_json(const ChargesOfLevels& levels) {
  Json json = Json::array();
  const auto add = [&](std::size_t panels, const ConductorSolution& solution,
                       const std::vector<double>& charges) {
    json.push_back(level_json(panels, solution));
    json.back()["charge_C"] = numbers(charges);
  };
  for (const ChargeLevel& level : levels.coarser) add(level.panels, level.solution, level.charges);
  add(levels.mesh.triangles.size(), levels.solution, levels.charges);
  return json;
}

Json charge_json(const ChargesOfLevels& levels) {
  Json json{{"value", numbers(levels.charges)}, {"unit", "C"}, {"location", "conductor"}};
  if (levels.convergence) json["error"] = numbers(levels.error);
  return json;
}

Json results_json(const Field& field, const ChargesOfLevels& levels) {
  Json results{{"voltages_V",
                {{"value", numbers(levels.solution.potential[0])},
                 {"unit", "V"},
                 {"location", "conductor"}}},
               {"charge_C", charge_json(levels)}};
  results.update(field_json(field));
  return results;
}

/// Refuses outputs that would overwrite something or cannot be written.
void check_outputs(const Options& options) {
  std::vector<std::pair<std::string, std::string>> inputs = inputs_of(options);
  if (options.field.points) inputs.emplace_back("points", *options.field.points);
  refuse_overwriting(options.file, options.output.json, inputs);
  check_points_path(options.file);
}

ExitCode run(Context& context, const Options& options) {
  SolveRun job(context, "field", options);
  check_outputs(options);
  check_field_tolerance(options.field.how.tolerance);
  const std::vector<Voltage> given = parse_voltages(options.field);
  const PointSet set = read_points(options.field);
  job.start();

  FMBEM_REQUIRE(!job.file() || !job.file()->problem.conducts(),
                *options.problem << " has regions with conductivities, and no charges: use fmbem "
                                    "solve");

  const MeshOfLevel mesh_of_level = job.load();
  const ConductorOptions how = job.options();
  std::optional<ProblemSolution> of_problem;  // on the mesh that was solved on last
  const ChargesOfLevels levels = solve_charge_levels(
      mesh_of_level, options.mesh.refine, how, [&](const SurfaceMesh& mesh) -> ConductorSolution {
        if (!job.file())
          return solve_conductors(mesh, how,
                                  {voltages_of(make_conductors(mesh, how.conductors), given)});
        of_problem = solve_problem(mesh, at_voltages(job.file()->problem, given), how);
        return *of_problem;
      });
  const ConductorSolution& solution = levels.solution;
  job.tell(solution, levels.mesh, {"these voltages"}, charges_text(levels));
  if (!levels.coarser.empty()) job.report()["levels"] = levels_json(levels);
  if (solution.converged && !levels.converged) warn_of_coarser_level(job.console(), job.report());
  const Timer timer;
  const Field field =
      of_problem ? problem_field(levels.mesh, *of_problem, 0, set.points, options.field.how)
                 : conductor_field(solution, 0, set.points, options.field.how);
  const double field_seconds = timer.seconds();
  job.console().print(field_text(field));
  warn_singular(job.console(), job.report(), field);
  write_points(options.file, set, levels.mesh.unit, point_fields(field));
  job.console().print("\nwrote " + options.file);

  job.report()["tolerance"]["field"] = options.field.how.tolerance;
  return job.finish(solution, levels.converged, results_json(field, levels), field_seconds);
}

}  // namespace

Command add_field(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "field", "Potential and electric field of conductors at given voltages, at points in space");
  app->footer(
      "Examples:\n"
      "  fmbem field examples/cube.geo --plane -1,-1,0.5,3,0,0,0,3,0,101,101 --output plane.vtu\n"
      "  fmbem field bus.step --unit mm --voltage VDD=5 --line 0,0,1,0,0,9,50 --output line.csv\n"
      "  fmbem field sphere.msh --points probes.xyz --side positive --output probes.csv\n"
      "Coordinates are in --unit. A single dash with more than one letter is a PETSc "
      "option.");
  add_mesh_options(*app, options->mesh);
  add_problem_option(*app, *options,
                     "regions, conditions of groups and sources (docs/problems.md); --voltage "
                     "replaces potentials of its conductors");
  add_conductor_option(*app, options->solve);
  add_field_options(*app, options->field);
  app->add_option("--output", options->file,
                  "potential and field at the points, as a table (.csv) or for ParaView (.vtu)")
      ->type_name("FILE")
      ->required();
  add_solve_options(*app, options->solve);
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
