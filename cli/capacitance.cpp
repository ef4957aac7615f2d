#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <sstream>

#include "cli/capacitance_report.hpp"
#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "fmbem/bem/dense_operator.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/write.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  MeshOptions mesh;
  OutputOptions output;
  std::vector<std::string> conductors;
  double permittivity = 1.0;
  double tolerance = 1e-6;
  std::optional<double> operator_tolerance;
  std::string operator_kind = "auto", backend = "auto", precision = "auto";
  std::optional<int> threads;
  std::optional<std::string> file;
};

/// NAME=GROUP,GROUP
Conductor parse_conductor(const std::string& text) {
  const std::size_t equals = text.find('=');
  FMBEM_REQUIRE(equals != std::string::npos && equals > 0 && equals + 1 < text.size(),
                "--conductor takes NAME=GROUP,GROUP, not \"" << text << "\"");
  Conductor conductor{text.substr(0, equals), {}};
  std::istringstream groups(text.substr(equals + 1));
  for (std::string group; std::getline(groups, group, ',');) conductor.groups.push_back(group);
  return conductor;
}

ConductorOptions solver_options(const Options& options, Console& console) {
  ConductorOptions result;
  for (const std::string& text : options.conductors)
    result.conductors.push_back(parse_conductor(text));
  result.permittivity = options.permittivity;
  result.tolerance = options.tolerance;
  if (options.operator_tolerance) {
    FMBEM_REQUIRE(
        *options.operator_tolerance >= 1e-15 && *options.operator_tolerance <= 0.5,
        "--operator-tolerance must be between 1e-15 and 0.5, not " << *options.operator_tolerance);
    result.operator_tolerance = *options.operator_tolerance;
  }
  if (options.operator_kind == "dense") result.operator_kind = OperatorOptions::Choice::dense;
  if (options.operator_kind == "fmm") result.operator_kind = OperatorOptions::Choice::fmm;
  if (options.precision == "single") result.precision = Precision::single_precision;
  if (options.precision == "double") result.precision = Precision::double_precision;
  result.assembly_progress = [&console](double fraction) {
    console.progress("assembling V: " + std::to_string(int(100 * fraction)) + " %");
  };
  result.solve_progress = [&console](int iteration, double residual) {
    std::ostringstream line;
    line << "solving: iteration " << iteration << ", residual " << std::setprecision(2) << residual;
    console.progress(line.str());
  };
  return result;
}

void choose_backend(const Options& options, Console& console, Json& report) {
  if (options.backend == "cuda") {
    require_cuda_device();
    throw InputError("the operators run on the CPU for now: use --backend cpu or auto");
  }
  if (options.backend == "auto")
    notice(console, report,
           cuda_devices().empty() ? "no CUDA device: the CPU is used"
                                  : "the operators run on the CPU for now: the GPU is not used");
}

/// Two outputs in one file, or one over the mesh, would lose what the user has.
void refuse_same_files(const Options& options) {
  namespace fs = std::filesystem;
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code error;  // of files that do not exist
    return fs::weakly_canonical(a, error) == fs::weakly_canonical(b, error);
  };
  const std::optional<std::string>& json = options.output.json;
  FMBEM_REQUIRE(!options.file || !json || !same(*options.file, *json),
                "--output and --json name the same file, " << *json);
  for (const auto& output : {options.file, json})
    FMBEM_REQUIRE(!output || !same(*output, options.mesh.file),
                  "the output " << *output << " would overwrite the mesh: give it another name");
}

/// Refuses options that nothing has asked for; those from the environment are only warned of.
void check_petsc_options(Console& console, Json& report) {
  const UnusedOptions unused = unused_petsc_options();
  for (const std::string& name : unused.ambient)
    warn(
        console, report,
        "the PETSc option -" + name + " from PETSC_OPTIONS or an rc file was not used by anything");
  FMBEM_REQUIRE(unused.given.empty(),
                "the PETSc option -"
                    << unused.given.front()
                    << " is unknown or was not used by anything (see fmbem -help)");
}

std::vector<PanelField> panel_fields(const CapacitanceSolution& solution) {
  std::vector<PanelField> fields;
  for (std::size_t j = 0; j < solution.conductors.size(); ++j)
    fields.push_back({"charge density [C/m^2], " + solution.conductors[j].name + " at 1 V",
                      solution.charge_density[j]});
  return fields;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void start_solver_library(const Options& options, Context& context, Json& report) {
  start_petsc(context.arguments.petsc);
  FMBEM_REQUIRE(mpi_ranks() == 1, "fmbem runs on one MPI rank for now: start it without mpirun");
  // Unknown solver types and tolerances come to light before the mesh is read.
  const LinearSolver probe(SolverOptions{options.tolerance, {}});
  if (options.operator_tolerance && *options.operator_tolerance > probe.tolerance())
    warn(
        context.console, report,
        "the operator's tolerance is looser than the solver's: the solution is only as good as the "
        "former");
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

Outcome solve_levels(const Options& options, Console& console) {
  const ConductorOptions solve_options = solver_options(options, console);
  Outcome outcome;
  std::vector<SquareMatrix> results;
  const auto load = [&](int level) {
    const auto start = Clock::now();
    SurfaceMesh mesh = load_mesh(options.mesh.file, options.mesh.load_options(level));
    outcome.mesh_seconds += seconds_since(start);
    return mesh;
  };
  const auto solve = [&](const SurfaceMesh& mesh) {
    console.begin_phase();
    outcome.solution = solve_capacitance(mesh, solve_options);
    outcome.levels.push_back({mesh.triangles.size(), outcome.solution.maxwell});
    results.push_back(outcome.solution.maxwell);
    outcome.converged = outcome.converged && outcome.solution.converged;
  };
  outcome.mesh = load(options.mesh.refine);
  if (options.operator_kind == "dense") refuse_large_dense_operator(outcome.mesh.triangles.size());
  // Up to two coarser levels tell how fast the result still changes.
  for (int level = std::max(0, options.mesh.refine - 2); level < options.mesh.refine; ++level)
    solve(load(level));
  solve(outcome.mesh);
  if (results.size() > 1 && outcome.converged)
    outcome.estimate = richardson(results, outcome.mesh.closed ? 4.0 / 3 : 1.0);
  return outcome;
}

void tell(Console& console, Json& report, const Outcome& outcome) {
  for (const std::string& sentence : outcome.mesh.notices) notice(console, report, sentence);
  console.print(capacitance_text(outcome.solution, outcome.mesh, outcome.estimate));
  for (std::size_t j = 0; j < outcome.solution.solves.size(); ++j) {
    const SolveReport& solve = outcome.solution.solves[j];
    if (solve.converged) continue;
    std::ostringstream sentence;
    sentence << "the solve for " << outcome.solution.conductors[j].name << " did not converge ("
             << solve.reason << ", true residual " << std::setprecision(2) << solve.true_residual
             << ")";
    warn(console, report, sentence.str());
  }
  if (outcome.solution.converged && !outcome.converged)
    warn(console, report,
         "a solve on a coarser mesh did not converge: there is no estimate of the discretization "
         "error");
}

void complete_report(Json& report, const Outcome& outcome) {
  const CapacitanceSolution& solution = outcome.solution;
  Json conductors = Json::array();
  for (const Conductor& c : solution.conductors)
    conductors.push_back({{"name", c.name}, {"groups", c.groups}});
  report["status"] = outcome.converged ? "solved" : "not_converged";
  report["mesh"] = mesh_summary(outcome.mesh, check_mesh(outcome.mesh));
  report["conductors"] = conductors;
  report["backend"] = "cpu";
  report["precision"] = precision_name(solution.op.precision);
  report["tolerance"] = {{"solver", solution.solver_tolerance},
                         {"operator", solution.operator_tolerance}};
  report["operators"] = operators_json(solution);
  report["solver"] = solver_json(solution);
  report["results"] = results_json(solution, outcome.mesh, outcome.levels, outcome.estimate);
}

/// Adds the times to the report and prints them.
void account(Console& console, Json& report, const Outcome& outcome, double total_seconds) {
  const CapacitanceSolution& solution = outcome.solution;
  report["timings_s"] = {{"mesh", outcome.mesh_seconds},
                         {"setup", solution.setup_seconds},
                         {"solve", solution.solve_seconds},
                         {"total", total_seconds},
                         {"product_median", solution.product_median_seconds},
                         {"stages",
                          {{"assembly", solution.assembly_seconds},
                           {"preconditioner", solution.preconditioner_seconds}}}};
  report["memory_bytes"] = peak_memory();
  std::ostringstream line;
  line << std::setprecision(3) << "\ntime      " << total_seconds << " s: mesh "
       << outcome.mesh_seconds << ", setup " << solution.setup_seconds << ", solve "
       << solution.solve_seconds << " (product " << solution.product_median_seconds << "); memory "
       << double(peak_memory()) / 1e6 << " MB";
  console.print(line.str());
}

ExitCode run(Context& context, const Options& options) {
  const auto start = Clock::now();
  Console& console = context.console;
  console.set_quiet(options.output.quiet);
  ReportTarget target(console, options.output.json);
  refuse_same_files(options);
  if (options.file) check_output_path(*options.file);
  FMBEM_REQUIRE(options.mesh.refine >= 0, "--refine must not be negative");
  const int threads = options.threads ? *options.threads : available_cores();
  set_threads(threads);
  Json report = start_report("capacitance");
  choose_backend(options, console, report);
  start_solver_library(options, context, report);

  const Outcome outcome = solve_levels(options, console);
  check_petsc_options(console, report);
  console.print(problem_text(outcome.solution, outcome.mesh, threads));
  tell(console, report, outcome);
  if (options.file) {
    write_mesh(*options.file, outcome.mesh, panel_fields(outcome.solution));
    console.print("\nwrote " + *options.file);
  }
  complete_report(report, outcome);
  account(console, report, outcome, seconds_since(start));
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
  app->add_option("--conductor", options->conductors,
                  "join groups to one conductor; every other group is one by itself")
      ->type_name("NAME=GROUP,...")
      ->allow_extra_args(false);
  app->add_option("--permittivity", options->permittivity,
                  "relative permittivity of the space around the conductors")
      ->capture_default_str();
  app->add_option("--tolerance", options->tolerance,
                  "relative residual of the solve, 1e-13 to 0.5; -ksp_rtol beats it")
      ->capture_default_str();
  app->add_option("--operator-tolerance", options->operator_tolerance,
                  "relative error of the operator (default: a tenth of the solver's tolerance)");
  app->add_option("--operator", options->operator_kind,
                  "how V is applied; auto: dense where that is faster")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "fmm", "dense"}));
  app->add_option("--backend", options->backend, "where V is applied")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app->add_option("--precision", options->precision, "of stored entries; auto: by the tolerance")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "double", "single"}));
  app->add_option("--threads", options->threads, "default: the cores that the process may use");
  app->add_option("--output", options->file,
                  "charge density per panel, for ParaView (.vtu) or Gmsh (.msh)")
      ->type_name("FILE");
  add_output_options(*app, options->output);
  return {app, [options](Context& context) { return run(context, *options); }, true};
}

}  // namespace fmbem::cli
