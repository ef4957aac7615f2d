#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/digits.hpp"
#include "cli/field_options.hpp"
#include "cli/picture_options.hpp"
#include "cli/point_report.hpp"
#include "cli/provenance.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_points.hpp"
#include "fmbem/problems/charge_levels.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/solution_file.hpp"
#include "fmbem/problems/solve_problem.hpp"
#include "fmbem/problems/superpose.hpp"

namespace fmbem::cli {
namespace {

struct Options : SolveCommandOptions {
  FieldCommandOptions field;
  std::optional<std::string> file, from, picture;
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

void check_picture_of_points(const Options& options) {
  check_picture(options.picture);
  const FieldCommandOptions& field = options.field;
  FMBEM_REQUIRE(!options.picture || field.plane || field.cut,
                "--picture is for the points of --cut or --plane"
                    << (field.box ? "; fmbem plot --cut draws a plane of a box" : ""));
}

/// Refuses outputs that would overwrite something or cannot be written.
void check_outputs(const SolveRun& job, const Options& options) {
  std::vector<std::pair<std::string, std::string>> inputs;
  if (options.field.points) inputs.emplace_back("points", *options.field.points);
  job.check_outputs({{"--output", options.file}, {"--picture", options.picture}}, inputs);
  if (options.file) check_points_path(*options.file);
  check_picture_of_points(options);
}

/// Tells of the field at the points, writes and draws it.
void put_out(Console& console, Json& report, const Options& options, const Field& field,
             const SurfaceMesh& mesh, const PointSet& set) {
  console.print_result(field_text(field));
  warn_singular(console, report, field);
  const std::vector<PointField> fields = point_fields(field);
  const Surroundings around = surroundings(mesh, set);
  if (options.file) {
    write_points(*options.file, set, mesh.unit, fields, around);
    console.print_wrote(*options.file);
  }
  draw_result(console, options.picture, [&](const std::string& path) {
    return write_vtk_points(path, false, set, mesh.unit, fields, around);
  });
  report["tolerance"]["field"] = options.field.how.tolerance;
}

void begin_evaluation(Console& console, const PointSet& set) {
  console.begin_phase("evaluating at " + counted(set.points.size(), "point"));
}

/// The voltages that are asked for, of a solution that was kept.
ConductorSolution at_voltages(const Options& options, ConductorSolution kept) {
  const std::vector<Voltage> given = parse_voltages(options.field);
  if (has_unit_voltages(kept)) return superpose(kept, voltages_of(kept.conductors, given));
  FMBEM_REQUIRE(given.empty() && kept.potential.size() == 1,
                *options.from << " holds the solution of its own voltages alone: leave out "
                                 "--voltage, or keep one by fmbem capacitance");
  return kept;
}

/// The same from a solution that was kept.
ExitCode run_from(Context& context, const Options& options) {
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  ReportTarget target(console, options.output.json);
  std::vector<std::pair<std::string, std::string>> inputs{{"solution", *options.from}};
  if (options.field.points) inputs.emplace_back("points", *options.field.points);
  refuse_overwriting(
      {{"--output", options.file}, {"--json", options.output.json}, {"--picture", options.picture}},
      inputs);
  if (options.file) check_points_path(*options.file);
  check_picture_of_points(options);
  check_field_tolerance(options.field.how.tolerance);
  const std::optional<PointSet> given_points = read_points(options.field);
  if (given_points && options.file) check_points_fit(*options.file, *given_points);
  const int threads = options.solve.threads.value_or(available_cores());
  set_threads(threads);

  const Timer total;
  const KeptSolution kept = load_solution(*options.from);
  const PointSet set = given_points ? *given_points : points_on_cut(options.field, kept.mesh);
  Json report = continued_report("field", context.arguments, kept.report, *options.from);
  for (const auto& [what, file] : inputs) report["run"]["inputs"].push_back(fingerprint(file));
  add_surroundings(report["run"], threads, false);
  const ConductorSolution solution = at_voltages(options, kept.solution);
  ChargesOfLevels charges;
  charges.mesh = kept.mesh;
  charges.solution = solution;
  charges.charges = conductor_charges(kept.mesh, solution)[0];
  console.print("solution  " + *options.from + ": " + kept.mesh.file + ", " +
                counted(kept.mesh.triangles.size(), "panel"));
  console.print_result(charges_text(charges));
  const Timer timer;
  begin_evaluation(console, set);
  const Field field = conductor_field(solution, 0, set.points, options.field.how);
  put_out(console, report, options, field, kept.mesh, set);
  report["timings_s"]["stages"]["field"] = timer.seconds();
  report["timings_s"]["total"] = total.seconds();
  report["memory_bytes"] = peak_memory();
  report["results"] = results_json(field, charges);
  target.write(report);
  return ExitCode::solved;
}

/// Options that say how to solve are for who solves.
void refuse_options_of_solves(const CLI::App& app, const Arguments& arguments) {
  static const std::set<std::string> taken{
      "--from", "--points",          "--line",   "--plane",   "--box",  "--cut",   "--voltage",
      "--side", "--field-tolerance", "--output", "--picture", "--json", "--quiet", "--threads"};
  for (const CLI::Option* option : app.get_options())
    FMBEM_REQUIRE(option->count() == 0 || taken.count(option->get_name()) > 0,
                  "--from takes a solution that is there: leave out " << option->get_name());
  FMBEM_REQUIRE(arguments.petsc.empty(),
                "--from takes a solution that is there: leave out " << arguments.petsc.front());
}

ExitCode run(Context& context, const Options& options) {
  SolveRun job(context, "field", options);
  check_outputs(job, options);
  check_field_tolerance(options.field.how.tolerance);
  const std::vector<Voltage> given = parse_voltages(options.field);
  const std::optional<PointSet> given_points = read_points(options.field);
  if (given_points && options.file) check_points_fit(*options.file, *given_points);
  if (options.field.points) job.add_input(*options.field.points);
  job.start();

  FMBEM_REQUIRE(!job.file() || !job.file()->problem.conducts(),
                *options.problem << " has regions with conductivities, and no charges: use fmbem "
                                    "solve");
  if (job.file()) refuse_what_solve_does(*job.file(), *options.problem);

  const MeshOfLevel mesh_of_level = job.load();
  const ConductorOptions how = job.options();
  std::optional<ProblemSolution> of_problem;  // on the mesh that was solved on last
  const ChargesOfLevels levels = solve_charge_levels(
      mesh_of_level, options.mesh.refine, how, [&](const SurfaceMesh& mesh) -> ConductorSolution {
        if (!job.file())
          return solve_conductors(mesh, how,
                                  {voltages_of(make_conductors(mesh, how.conductors), given)});
        of_problem = solve_problem(mesh, at_voltages(job.file()->problem, given), how);
        return static_cast<const ConductorSolution&>(*of_problem);
      });
  const ConductorSolution& solution = levels.solution;
  job.tell(solution, levels.mesh, {"these voltages"}, charges_text(levels));
  if (!levels.coarser.empty()) job.report()["levels"] = levels_json(levels);
  if (solution.converged && !levels.converged) warn_of_coarser_level(job.console(), job.report());
  const PointSet set = given_points ? *given_points : points_on_cut(options.field, levels.mesh);
  begin_evaluation(job.console(), set);
  const Timer timer;
  Field field;
  if (of_problem) {
    const ProblemField by_regions =
        problem_field(levels.mesh, *of_problem, 0, set.points, options.field.how);
    field = static_cast<const Field&>(by_regions);
  } else {
    field = conductor_field(solution, 0, set.points, options.field.how);
  }
  const double field_seconds = timer.seconds();
  put_out(job.console(), job.report(), options, field, levels.mesh, set);
  if (options.hand_on.csv) {
    write_charge_csv(*options.hand_on.csv, solution.potential[0], levels);
    job.console().print_wrote(*options.hand_on.csv);
  }
  return job.finish(solution, levels.converged, results_json(field, levels), field_seconds,
                    {{levels.mesh, solution}});
}

}  // namespace

Command add_field(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "field", "Potential and field at points, of conductors at given voltages");
  app->footer(
      "Examples:\n"
      "  fmbem field examples/cube.geo --plane -1,-1,0.5,3,0,0,0,3,0,101,101 --output plane.vtu\n"
      "  fmbem field examples/spheres.geo --cut y=0 --output cut.vti --picture cut.png\n"
      "  fmbem field bus.step --unit mm --voltage VDD=5 --line 0,0,1,0,0,9,50 --output line.csv\n"
      "  fmbem field sphere.msh --points probes.xyz --side positive --output probes.csv\n"
      "Coordinates are in --unit. A single dash with more than one letter is a PETSc "
      "option.");
  add_mesh_options(*app, options->mesh);
  app->get_option("MESH")->required(false);
  app->add_option("--from", options->from,
                  "a solution that --save has kept, in the place of MESH; one of fmbem capacitance "
                  "serves for any voltages")
      ->type_name("FILE");
  add_problem_option(*app, *options,
                     "regions, conditions of groups and sources (docs/problems.md); --voltage "
                     "replaces potentials of its conductors");
  add_conductor_option(*app, options->solve);
  add_field_options(*app, options->field);
  app->add_option(
         "--output", options->file,
         "potential and field at the points, as a table (.csv) or for ParaView (.vtu; .vti "
         "of planes and boxes)")
      ->type_name("FILE")
      ->group(output_group)
      ->required();
  add_picture_option(*app, options->picture);
  add_solve_options(*app, options->solve);
  add_hand_on_options(*app, options->hand_on);
  add_output_options(*app, options->output);
  const auto run_either = [app, options](Context& context) {
    if (options->from) {
      refuse_options_of_solves(*app, context.arguments);
      return run_from(context, *options);
    }
    FMBEM_REQUIRE(!options->mesh.file.empty(),
                  "MESH is required, or --from FILE (see fmbem field --help)");
    return run(context, *options);
  };
  return {app, run_either, true};
}

}  // namespace fmbem::cli
