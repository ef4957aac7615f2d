#include <memory>
#include <optional>
#include <utility>

#include "cli/charge_report.hpp"
#include "cli/field_from.hpp"
#include "cli/picture_options.hpp"
#include "cli/point_output.hpp"
#include "cli/problem_report.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "fmbem/problems/charge_levels.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::cli {
namespace {

struct FieldArguments : SolveCommandOptions {
  FieldCommandOptions field;
  std::optional<std::string> from, file, picture;

  FieldFromOptions of_kept() const {
    return {*from, field, file, picture, output, solve.threads, solve.problem.op.processor};
  }
};

ExitCode run(Context& context, const FieldArguments& options) {
  SolveRun job(context, "field", options);
  PointOutput points(options.field, options.file, options.picture, context.is_repeated);
  points.require_points();
  job.check_outputs(points.outputs(), points.inputs());
  const std::vector<Voltage> given = parse_voltages(options.field);
  for (const auto& [what, file] : points.inputs()) job.add_input(file);
  job.start();
  FMBEM_REQUIRE(!job.file() || !job.file()->problem.conducts(),
                *options.problem << " has regions with conductivities, and no charges: use fmbem "
                                    "solve");
  if (job.file()) refuse_what_solve_does(*job.file(), *options.problem);

  const MeshOfLevel mesh_of_level = job.load();
  const ConductorOptions how = job.options();
  ProblemSolution finest;  // on the mesh that was solved on last
  const ChargesOfLevels levels = solve_charge_levels(
      mesh_of_level, options.mesh.refine, how, [&](const SurfaceMesh& mesh) -> ConductorSolution {
        if (job.file())
          finest = solve_problem(mesh, at_voltages(job.file()->problem, given), how);
        else
          static_cast<ConductorSolution&>(finest) = solve_conductors(
              mesh, how, {voltages_of(make_conductors(mesh, how.conductors), given)});
        return static_cast<const ConductorSolution&>(finest);
      });
  job.tell(finest, levels.mesh, {"these voltages"}, charges_text(levels));
  if (!levels.coarser.empty()) job.report()["levels"] = levels_json(levels);
  if (finest.converged && !levels.converged) warn_of_coarser_level(job.console(), job.report());
  warn_of_problem(job.console(), job.report(), finest);
  const Timer timer;
  Json results = charges_json(levels);
  results.update(points.put_out(job.console(), job.report(), levels.mesh, finest));
  const double field_seconds = timer.seconds();
  if (options.hand_on.csv) {
    write_charge_csv(*options.hand_on.csv, finest.potential[0], levels);
    job.console().print_wrote(*options.hand_on.csv);
  }
  const ExitCode code =
      job.finish(finest, levels.converged, std::move(results), field_seconds, levels.mesh);
  points.draw(job.console());
  return code;
}

}  // namespace

Command add_field(CLI::App& program) {
  auto options = std::make_shared<FieldArguments>();
  CLI::App* app = program.add_subcommand(
      "field", "Potential and field at points, of conductors at given voltages");
  add_footer(
      *app,
      "\n  fmbem field examples/cube.geo --plane -1,-1,0.5,3,0,0,0,3,0,101,101 --output plane.vtu"
      "\n  fmbem field examples/spheres.geo --cut y=0 --output cut.vti --picture cut.png"
      "\n  fmbem field bus.step --unit mm --voltage VDD=5 --line 0,0,1,0,0,9,50 --output line.csv"
      "\n  fmbem field sphere.msh --points probes.xyz --side positive --output probes.csv",
      "Coordinates are in --unit. ");
  add_mesh_options(*app, options->mesh);
  app->get_option("MESH")->required(false);
  app->add_option("--from", options->from,
                  "a solution that --save has kept, in the place of MESH; one of fmbem capacitance "
                  "or of fmbem solve --basis serves for any voltages")
      ->type_name("FILE");
  add_problem_option(*app, *options,
                     "regions, conditions of groups and sources (docs/problems.md); --voltage "
                     "replaces potentials of its conductors");
  add_conductor_option(*app, options->solve);
  add_field_options(*app, options->field);
  app->add_option(
         "--output", options->file,
         "potential and field at the points: a table (.csv), for ParaView (.vtu, .vtp; .vti of "
         "planes and boxes), or an array [results][points][4] (.npy); of several sets of points "
         "each has a file, such as FILE-cut-1.vtu")
      ->type_name("FILE")
      ->group(output_group);
  add_picture_option(*app, options->picture);
  add_solve_options(*app, options->solve);
  add_hand_on_options(*app, options->hand_on);
  add_output_options(*app, options->output);
  const auto run_either = [app, options](Context& context) {
    if (options->from) {
      refuse_options_of_solves(*app, context.arguments);
      return run_field_from(context, options->of_kept());
    }
    FMBEM_REQUIRE(!options->mesh.file.empty(),
                  "MESH is required, or --from FILE (see fmbem field --help)");
    return run(context, *options);
  };
  return {app, run_either, true};
}

}  // namespace fmbem::cli
