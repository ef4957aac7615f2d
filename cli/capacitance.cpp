#include <algorithm>
#include <memory>

#include "cli/capacitance_report.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/solve_options.hpp"
#include "cli/solve_report.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/write.hpp"

namespace fmbem::cli {
namespace {

struct Options {
  MeshOptions mesh;
  OutputOptions output;
  SolveOptions solve;
  double permittivity = 1.0;
  std::optional<std::string> file;
};

std::vector<PanelField> panel_fields(const CapacitanceSolution& solution) {
  std::vector<PanelField> fields;
  for (std::size_t j = 0; j < solution.conductors.size(); ++j)
    fields.push_back({"charge density [C/m^2], " + solution.conductors[j].name + " at 1 V",
                      solution.charge_density[j]});
  return fields;
}

/// The finest level's mesh and solution, and what the coarser ones gave.
struct Outcome {
  SurfaceMesh mesh;
  CapacitanceSolution solution;
  std::vector<LevelResult> levels;
  std::optional<RichardsonEstimate> estimate;
  bool converged = true;  // on every level
  double mesh_seconds = 0;
};

Outcome solve_levels(const Options& options, Context& context) {
  ConductorOptions solve_options = conductor_options(options.solve, context.console);
  solve_options.permittivity = options.permittivity;
  solve_options.time_stages = options.output.json.has_value();
  Outcome outcome;
  std::vector<SquareMatrix> results;
  const auto load = [&](int level) {
    const Timer timer;
    SurfaceMesh mesh = load_mesh(options.mesh.file, options.mesh.load_options(level));
    outcome.mesh_seconds += timer.seconds();
    context.device_start.request_stop();
    return mesh;
  };
  const auto solve = [&](const SurfaceMesh& mesh) {
    context.console.begin_phase();
    outcome.solution = solve_capacitance(mesh, solve_options);
    outcome.levels.push_back({mesh.triangles.size(), outcome.solution.maxwell});
    results.push_back(outcome.solution.maxwell);
    outcome.converged = outcome.converged && outcome.solution.converged;
  };
  outcome.mesh = load(options.mesh.refine);
  if (options.solve.operator_kind == "dense")
    refuse_large_dense_operator(outcome.mesh.triangles.size());
  // Up to two coarser levels tell how fast the result still changes.
  for (int level = std::max(0, options.mesh.refine - 2); level < options.mesh.refine; ++level)
    solve(load(level));
  solve(outcome.mesh);
  if (results.size() > 1 && outcome.converged)
    outcome.estimate = richardson(results, outcome.mesh.closed ? 4.0 / 3 : 1.0);
  return outcome;
}

std::vector<std::string> problem_names(const CapacitanceSolution& solution) {
  std::vector<std::string> names;
  for (const Conductor& conductor : solution.conductors) names.push_back(conductor.name);
  return names;
}

void tell(Console& console, Json& report, const Outcome& outcome) {
  const std::vector<std::string> problems = problem_names(outcome.solution);
  for (const std::string& sentence : outcome.mesh.notices) notice(console, report, sentence);
  console.print(solver_text(outcome.solution, problems) +
                capacitance_text(outcome.solution, outcome.mesh, outcome.estimate));
  warn_of_solves(console, report, outcome.solution, problems);
  if (outcome.solution.converged && !outcome.converged)
    warn(console, report,
         "a solve on a coarser mesh did not converge: there is no estimate of the discretization "
         "error");
}

void complete_report(Json& report, const Outcome& outcome) {
  report["status"] = outcome.converged ? "solved" : "not_converged";
  add_solution(report, outcome.solution, outcome.mesh);
  report["results"] =
      results_json(outcome.solution, outcome.mesh, outcome.levels, outcome.estimate);
}

ExitCode run(Context& context, const Options& options) {
  const Timer timer;
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  ReportTarget target(console, options.output.json);
  refuse_overwriting(options.file, options.output.json, {{"mesh", options.mesh.file}});
  if (options.file) check_output_path(*options.file);
  FMBEM_REQUIRE(options.mesh.refine >= 0, "--refine must not be negative");
  Json report = start_report("capacitance");
  const int threads = start_solving(options.solve, context, report);

  const Outcome outcome = solve_levels(options, context);
  check_petsc_options(console, report);
  console.print(problem_text(outcome.solution, outcome.mesh, threads));
  tell(console, report, outcome);
  if (options.file) {
    write_mesh(*options.file, outcome.mesh, panel_fields(outcome.solution));
    console.print("\nwrote " + *options.file);
  }
  complete_report(report, outcome);
  account(console, report, outcome.solution, {outcome.mesh_seconds, timer.seconds()});
  target.write(report);
  return outcome.converged ? ExitCode::solved : ExitCode::not_converged;
}

}  // namespace

Command add_capacitance(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "capacitance", "Capacitance matrix and charge densities of the conductors of a mesh");
  app->footer(
      "Examples:\n"
      "  fmbem capacitance examples/cube.geo --refine 1 --output cube.vtu\n"
      "  fmbem capacitance bus.step --mesh-size 1e-6 --conductor gnd=shield,plate --json -\n"
      "  fmbem capacitance sphere.msh --unit mm --tolerance 1e-10 -ksp_monitor\n"
      "A single dash with more than one letter is a PETSc option.");
  add_mesh_options(*app, options->mesh);
  add_solve_options(*app, options->solve);
  app->add_option("--permittivity", options->permittivity,
                  "relative permittivity of the space around the conductors")
      ->capture_default_str();
  app->add_option("--output", options->file,
                  "charge density per panel, for ParaView (.vtu) or Gmsh (.msh)")
      ->type_name("FILE");
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
