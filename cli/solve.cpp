#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/field_options.hpp"
#include "cli/force_report.hpp"
#include "cli/point_report.hpp"
#include "cli/problem_report.hpp"
#include "cli/solve_report.hpp"
#include "cli/solve_run.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/write.hpp"
#include "fmbem/meshes/write_points.hpp"
#include "fmbem/problems/problem_forces.hpp"

namespace fmbem::cli {
namespace {

struct Options : SolveCommandOptions {
  FieldCommandOptions field;
  std::optional<std::string> points_file, surface_file, rhs_file;
  bool basis = false, forces = false;

  bool has_points() const {
    return field.points || field.line || field.plane || field.box || field.cut;
  }
};

bool is_npy(const std::string& file) { return ending(file) == "npy"; }

void check_outputs(const SolveRun& job, const Options& options) {
  FMBEM_REQUIRE(options.has_points() == options.points_file.has_value(),
                (options.has_points() ? "points are given, but no --output to write to"
                                      : "--output is for points: give one of --points, --line, "
                                        "--plane, --box and --cut, or use --surface"));
  FMBEM_REQUIRE(!options.basis || !options.rhs_file,
                "--basis and --rhs exclude each other: run fmbem twice");
  std::vector<std::pair<std::string, std::string>> inputs;
  if (options.field.points) inputs.emplace_back("points", *options.field.points);
  if (options.rhs_file) inputs.emplace_back("right-hand sides", *options.rhs_file);
  job.check_outputs({{"--output", options.points_file}, {"--surface", options.surface_file}},
                    inputs);
  if (options.points_file)
    is_npy(*options.points_file) ? OutputFile(*options.points_file),
        void()                   : check_points_path(*options.points_file);
  if (options.surface_file)
    is_npy(*options.surface_file) ? OutputFile(*options.surface_file),
        void()                    : check_output_path(*options.surface_file);
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

/// Of several results each has its name before those of its fields.
std::string prefix_of(const ProblemSolution& solution, std::size_t k) {
  return solution.results.size() == 1 ? "" : solution.results[k].name + ": ";
}

/// φ, E_x, E_y, E_z: [results][points][4].
NumberArray array_of(const std::vector<ProblemField>& fields) {
  NumberArray array{{fields.size(), fields[0].potential.size(), 4}, {}};
  for (const Field& field : fields)
    for (std::size_t i = 0; i < field.e.size(); ++i)
      array.values.insert(array.values.end(),
                          {field.potential[i], field.e[i].x, field.e[i].y, field.e[i].z});
  return array;
}

void write_fields(const Options& options, const PointSet& set, const std::string& unit,
                  const ProblemSolution& solution, const std::vector<ProblemField>& fields) {
  if (is_npy(*options.points_file)) return write_npy(*options.points_file, array_of(fields));
  std::vector<PointField> columns;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    std::vector<PointField> of_result = point_fields(fields[k], prefix_of(solution, k));
    std::move(of_result.begin(), of_result.end(), std::back_inserter(columns));
  }
  columns.push_back({"region", "number", {fields[0].region.begin(), fields[0].region.end()}});
  write_points(*options.points_file, set, unit, columns);
}

/// In the mesh's order: σ in V/m, φ, and flux densities into the regions inside and outside.
std::vector<std::vector<double>> surface_values(const ProblemSolution& solution, std::size_t k) {
  std::vector<double> density = solution.panels.to_input_order(solution.sigma[k]);
  for (double& value : density) value /= solution.scale_to_m;
  const SurfaceValues& surface = solution.results[k].surface;
  return {std::move(density), surface.potential, surface.inside, surface.outside};
}

void write_surface(const std::string& file, const SurfaceMesh& mesh,
                   const ProblemSolution& solution) {
  const std::string unit = solution.problem.conducts() ? " [A/m^2]" : " [C/m^2]";
  const std::string names[] = {"density [V/m]", "potential [V]", "flux density inward" + unit,
                               "flux density outward" + unit};
  std::vector<PanelField> fields;
  NumberArray array{{solution.results.size(), mesh.triangles.size(), 4}, {}};
  for (std::size_t k = 0; k < solution.results.size(); ++k) {
    std::vector<std::vector<double>> values = surface_values(solution, k);
    if (is_npy(file))
      for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
        for (const std::vector<double>& column : values) array.values.push_back(column[i]);
    else
      for (std::size_t m = 0; m < 4; ++m)
        fields.push_back({prefix_of(solution, k) + names[m], std::move(values[m])});
  }
  is_npy(file) ? write_npy(file, array) : write_mesh(file, mesh, fields);
}

ExitCode run(Context& context, const Options& options) {
  SolveRun job(context, "solve", options);
  check_outputs(job, options);
  check_field_tolerance(options.field.how.tolerance);
  std::optional<PointSet> points;
  if (options.has_points()) points = read_points(options.field);
  if (points && !is_npy(*options.points_file)) check_points_fit(*options.points_file, *points);
  if (options.field.points) job.add_input(*options.field.points);
  if (options.rhs_file) job.add_input(*options.rhs_file);
  job.start();

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
  if (options.forces || !job.file()->bodies.empty()) {
    FMBEM_REQUIRE(!asked.rhs, "forces and --rhs exclude each other: run fmbem twice");
    forces = problem_forces(mesh, solution, 0, job.file()->bodies);
  }
  job.tell(solution, mesh, solution.solve_names,
           results_text(solution, asked) + (forces ? forces_text(*forces) : ""));
  if (!solution.driven.empty()) job.report()["driven"] = driven_json(solution);
  warn_of_driven(job.console(), job.report(), solution);
  for (const std::string& sentence : solution.notices) warn(job.console(), job.report(), sentence);
  warn_of_balance(job.console(), job.report(), solution);
  Json results = results_json(solution, asked);
  if (forces) results.update(forces_json(*forces));

  std::optional<double> field_seconds;
  if (options.field.cut) points = points_on_cut(options.field, mesh);
  if (points) {
    job.console().begin_phase("evaluating at " + counted(points->points.size(), "point"));
    const Timer timer;
    std::vector<ProblemField> fields;
    for (std::size_t k = 0; k < solution.results.size(); ++k)
      fields.push_back(problem_field(mesh, solution, k, points->points, options.field.how));
    field_seconds = timer.seconds();
    job.console().print_result(field_text(fields[0]));
    warn_singular(job.console(), job.report(), fields[0]);
    write_fields(options, *points, mesh.unit, solution, fields);
    job.console().print_wrote(*options.points_file);
    results.update(field_json(fields[0]));
    job.report()["tolerance"]["field"] = options.field.how.tolerance;
  }
  if (options.surface_file) {
    write_surface(*options.surface_file, mesh, solution);
    job.console().print_wrote(*options.surface_file);
  }
  return job.finish(solution, solution.converged, std::move(results), field_seconds);
}

}  // namespace

Command add_solve(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "solve", "Solve a problem of regions, conditions of groups and sources");
  app->footer(
      "Examples:\n"
      "  fmbem solve examples/coated.geo --problem examples/coated.json --surface coated.vtu\n"
      "  fmbem solve bar.step --problem bar.json --basis --json -\n"
      "  fmbem solve head.msh --problem head.json --rhs dipoles.npy --points scalp.xyz --output "
      "v.npy\n"
      "docs/problems.md explains the problem's file. Lengths are in --unit. A single dash with\n"
      "more than one letter is a PETSc option.");
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
                  "potential and field at the points: a table (.csv), for ParaView (.vtu), or an "
                  "array [results][points][4] (.npy)")
      ->type_name("FILE")
      ->group(output_group);
  app->add_option("--surface", options->surface_file,
                  "density, potential and flux densities per panel, for ParaView (.vtu) or Gmsh "
                  "(.msh), or an array [results][panels][4] (.npy)")
      ->type_name("FILE")
      ->group(output_group);
  add_solve_options(*app, options->solve);
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
