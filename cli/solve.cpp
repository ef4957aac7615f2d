#include <memory>
#include <optional>
#include <utility>

#include "cli/force_report.hpp"
#include "cli/hand_on.hpp"
#include "cli/picture_options.hpp"
#include "cli/point_output.hpp"
#include "cli/problem_report.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "cli/surface_output.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "fmbem/problems/problem_forces.hpp"

namespace fmbem::cli {
namespace {

struct SolveArguments : SolveCommandOptions {
  FieldCommandOptions field;
  std::optional<std::string> points_file, surface_file, rhs_file, picture;
  bool basis = false, forces = false;

  /// A picture is of points on planes, where there are such, or else of the surface.
  bool draws_points() const { return !field.plane.empty() || !field.cut.empty(); }
  std::optional<std::string> surface_picture() const {
    return draws_points() ? std::nullopt : picture;
  }
};

void check_outputs(SolveRun& job, const SolveArguments& options, const PointOutput& points) {
  FMBEM_REQUIRE(!options.basis || !options.rhs_file,
                "--basis and --rhs exclude each other: run fmbem twice");
  FMBEM_REQUIRE(options.field.voltages.empty() || !options.rhs_file,
                "--voltage and --rhs exclude each other: right-hand sides have the potentials");
  auto inputs = points.inputs();
  if (options.rhs_file) inputs.emplace_back("right-hand sides", *options.rhs_file);
  auto outputs = points.outputs();
  outputs.emplace_back("--surface", options.surface_file);
  outputs.emplace_back("--picture", options.surface_picture());
  job.check_outputs(std::move(outputs), std::move(inputs));
  if (options.surface_file) check_surface_path(*options.surface_file);
  check_picture(options.surface_picture());
}

/// [k][n panels]
std::vector<std::vector<double>> read_right_hand_sides(const std::string& file,
                                                       std::size_t panels) {
  FMBEM_REQUIRE(is_npy(file), "--rhs takes a .npy, not " << file);
  const NumberArray array = read_npy(file);
  FMBEM_REQUIRE(array.shape.size() == 2,
                file << " has " << array.shape.size()
                     << " dimensions; right-hand sides have two, their number and the panels'");
  FMBEM_REQUIRE(array.shape[0] > 0, file << " has no right-hand side");
  FMBEM_REQUIRE(array.shape[1] == panels, file << " has right-hand sides of " << array.shape[1]
                                               << " values, and the mesh has " << panels
                                               << " panels");
  std::vector<std::vector<double>> result;
  for (std::size_t k = 0; k < array.shape[0]; ++k)
    result.emplace_back(array.values.begin() + std::ptrdiff_t(k * panels),
                        array.values.begin() + std::ptrdiff_t((k + 1) * panels));
  return result;
}

ExitCode run(Context& context, const SolveArguments& options) {
  SolveRun job(context, "solve", options);
  PointOutput points(options.field, options.points_file,
                     options.draws_points() ? options.picture : std::nullopt, context.is_repeated);
  check_outputs(job, options, points);
  for (const auto& [what, file] : points.inputs()) job.add_input(file);
  if (options.rhs_file) job.add_input(*options.rhs_file);
  job.start();
  const bool wants_forces = options.forces || !job.file()->bodies.empty();
  if (wants_forces) {
    FMBEM_REQUIRE(!options.rhs_file, "forces and --rhs exclude each other: run fmbem twice");
    check_forces(job.file()->problem);
  }

  const SurfaceMesh mesh = job.load_finest();
  const ResultsAsked asked{options.basis, options.rhs_file.has_value()};
  std::vector<std::vector<double>> data;
  if (asked.rhs) data = read_right_hand_sides(*options.rhs_file, mesh.triangles.size());
  ProblemSolver solver(mesh, at_voltages(job.file()->problem, parse_voltages(options.field)),
                       job.options());
  asked.rhs ? solver.solve_for(data) : solver.solve();
  if (asked.basis) solver.solve_basis();
  const ProblemSolution& solution = solver.solution();

  std::optional<Forces> forces;
  if (wants_forces) forces = problem_forces(mesh, solution, 0, job.file()->bodies);
  job.tell(solution, mesh, solution.solve_names,
           results_text(solution, asked) + (forces ? forces_text(*forces) : ""));
  if (!solution.driven.empty()) job.report()["driven"] = driven_json(solution);
  warn_of_problem(job.console(), job.report(), solution);
  Json results = results_json(solution, asked);
  if (forces) results.update(forces_json(*forces));

  std::optional<double> field_seconds;
  if (points.has_points()) {
    const Timer timer;
    results.update(points.put_out(job.console(), job.report(), mesh, solution));
    field_seconds = timer.seconds();
  }
  if (options.surface_file) {
    write_surface(*options.surface_file, mesh, solution);
    job.console().print_wrote(*options.surface_file);
  }
  if (options.hand_on.csv) {
    write_problem_csv(*options.hand_on.csv, solution);
    job.console().print_wrote(*options.hand_on.csv);
  }
  const ExitCode code =
      job.finish(solution, solution.converged, std::move(results), field_seconds, mesh);
  points.draw(job.console());
  draw_result(job.console(), options.surface_picture(), [&](const std::string& path) {
    return write_vtu(path, mesh, panel_fields(solution));
  });
  return code;
}

}  // namespace

Command add_solve(CLI::App& program) {
  auto options = std::make_shared<SolveArguments>();
  CLI::App* app = program.add_subcommand(
      "solve", "Solve a problem of regions, conditions of groups and sources");
  add_footer(
      *app,
      "\n  fmbem solve examples/coated.geo --problem examples/coated.json --surface coated.vtu"
      "\n  fmbem solve bar.step --problem bar.json --basis --json -"
      "\n  fmbem solve head.msh --problem head.json --rhs dipoles.npy --points scalp.xyz "
      "--output v.npy",
      "docs/problems.md explains the problem's file. Lengths are in --unit.\n");
  add_mesh_options(*app, options->mesh);
  add_problem_option(*app, *options, "regions, conditions of groups and sources");
  app->get_option("--problem")->required();
  app->add_flag("--basis", options->basis,
                "solve for each conductor at 1 V and all else at 0 besides: the matrix of "
                "capacitances, or of conductances");
  app->add_flag("--forces", options->forces,
                "forces and torques on bodies: those of the problem's file, or else each conductor "
                "and each closed interface");
  app->add_option("--rhs", options->rhs_file,
                  "right-hand sides instead of the file's data and sources, an array [k][panels] "
                  "in the mesh's order: V where a potential is given, else the flux density that "
                  "the panel gives off, C/m^2 or A/m^2")
      ->type_name("FILE.npy");
  add_field_options(*app, options->field);
  app->add_option("--output", options->points_file,
                  "potential and field at the points: a table (.csv), for ParaView (.vtu, .vtp; "
                  ".vti of planes and boxes), or an array [results][points][4] (.npy); of several "
                  "sets of points each has a file, such as FILE-cut-1.vtu")
      ->type_name("FILE")
      ->group(output_group);
  app->add_option("--surface", options->surface_file,
                  "density, potential, charge density and flux densities per panel, for ParaView "
                  "(.vtu) or Gmsh (.msh), or an array [results][panels][4] without charges (.npy)")
      ->type_name("FILE")
      ->group(output_group);
  add_picture_option(*app, options->picture);
  add_hand_on_options(*app, options->hand_on);
  add_solve_options(*app, options->solve);
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
