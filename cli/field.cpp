#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "cli/digits.hpp"
#include "cli/field_options.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_points.hpp"
#include "fmbem/problems/charge_levels.hpp"
#include "fmbem/problems/conductor_field.hpp"

namespace fmbem::cli {
namespace {

struct Options : SolveCommandOptions {
  FieldCommandOptions field;
  std::string file;
};

/// The range of numbers; NaN where there is none.
struct Range {
  double min = std::numeric_limits<double>::quiet_NaN(), max = min;

  void add(double value) {
    min = std::fmin(min, value);  // which prefers numbers to NaN
    max = std::fmax(max, value);
  }
};

/// What is told of the values at all points.
struct Summary {
  std::size_t points = 0, singular_points = 0;
  Range potential, field;
};

Summary summary_of(const Field& field) {
  Summary summary{field.potential.size(), field.singular_points, {}, {}};
  for (const double value : field.potential) summary.potential.add(value);
  for (const Vec3d& e : field.e) summary.field.add(norm(e));
  return summary;
}

std::string range_text(const Range& range, const std::string& unit) {
  if (std::isnan(range.min)) return "nowhere finite";
  return "from " + decimal(range.min) + " to " + decimal(range.max) + " " + unit;
}

std::string field_text(const Summary& summary) {
  return "\npoints    " + std::to_string(summary.points) + "\npotential " +
         range_text(summary.potential, "V") + "\n|E|       " + range_text(summary.field, "V/m");
}

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

Json results_json(const Summary& summary, const std::vector<double>& voltages,
                  const ChargesOfLevels& levels) {
  const auto at_points = [](Json value, const char* unit) {
    return Json{{"value", std::move(value)}, {"unit", unit}, {"location", "point"}};
  };
  const auto range = [](const Range& values) {
    return Json{{"min", number(values.min)}, {"max", number(values.max)}};
  };
  return {{"voltages_V", {{"value", voltages}, {"unit", "V"}, {"location", "conductor"}}},
          {"charge_C", charge_json(levels)},
          {"points", at_points(summary.points, "1")},
          {"singular_points", at_points(summary.singular_points, "1")},
          {"potential_V", at_points(range(summary.potential), "V")},
          {"field_V_per_m", at_points(range(summary.field), "V/m")}};
}

void warn_singular(Console& console, Json& report, const Summary& summary) {
  if (summary.singular_points == 0) return;
  warn(console, report,
       counted(summary.singular_points, "point lies", "points lie") +
           " on an edge of a panel, where E is infinite and nan is written: move the points off "
           "the edges");
}

std::vector<PointField> point_fields(Field field) {
  PointField e{"E", "V/m", {}, 3};
  e.values.reserve(3 * field.e.size());
  for (const Vec3d& value : field.e) e.values.insert(e.values.end(), {value.x, value.y, value.z});
  return {{"potential", "V", std::move(field.potential)}, std::move(e)};
}

/// Refuses outputs that would overwrite something or cannot be written.
void check_outputs(const Options& options) {
  std::vector<std::pair<std::string, std::string>> inputs{{"mesh", options.mesh.file}};
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

  const MeshOfLevel mesh_of_level = job.load();
  std::vector<double> voltages;
  const ChargesOfLevels levels =
      solve_charge_levels(mesh_of_level, options.mesh.refine, job.problem(),
                          [&](const std::vector<Conductor>& conductors) {
                            return voltages = voltages_of(conductors, given);
                          });
  const ConductorSolution& solution = levels.solution;
  job.tell(solution, levels.mesh, {"these voltages"}, charges_text(levels));
  if (!levels.coarser.empty()) job.report()["levels"] = levels_json(levels);
  if (solution.converged && !levels.converged) warn_of_coarser_level(job.console(), job.report());
  const Timer timer;
  Field field = conductor_field(solution, 0, set.points, options.field.how);
  const double field_seconds = timer.seconds();
  const Summary summary = summary_of(field);
  job.console().print(field_text(summary));
  warn_singular(job.console(), job.report(), summary);
  write_points(options.file, set, levels.mesh.unit, point_fields(std::move(field)));
  job.console().print("\nwrote " + options.file);

  job.report()["tolerance"]["field"] = options.field.how.tolerance;
  return job.finish(solution, levels.converged, results_json(summary, voltages, levels),
                    field_seconds);
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
