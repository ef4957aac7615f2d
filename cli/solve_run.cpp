#include "cli/solve_run.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "cli/problem_report.hpp"
#include "cli/provenance.hpp"
#include "cli/solve_report.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/join.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/export_system.hpp"
#include "fmbem/problems/solution_file.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

void start_solver_library(const ConductorOptions& problem, Context& context, Json& report) {
  start_petsc(context.arguments.petsc);
  FMBEM_REQUIRE(mpi_ranks() == 1, "fmbem runs on one MPI rank for now: start it without mpirun");
  check_petsc_values();
  const std::string shows = option_that_shows_the_system();
  FMBEM_REQUIRE(shows.empty(), "the PETSc option -"
                                   << shows << " would show nothing, or numbers in the solver's "
                                   << "own order: --export DIR writes the matrix, vectors and "
                                      "the order (docs/results.md)");
  // Unknown solver types and tolerances come to light before the mesh is read.
  const LinearSolver probe(problem.solver);
  if (problem.op.tolerance > probe.tolerance())
    warn(context.console, report,
         "the operator's tolerance is looser than the solver's: steps of refinement with tighter "
         "products make up for it, which takes longer");
}

/// Starts the GPU when reading the mesh takes so long that it will have enough panels for it.
std::jthread start_device_beside() {
  return std::jthread([](const std::stop_token& mesh_is_read) {
    constexpr std::chrono::milliseconds a_while{100};
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, mesh_is_read, a_while, [] { return false; });
    if (!mesh_is_read.stop_requested()) start_cuda_device();
  });
}

void check_petsc_options(Console& console, Json& report) {
  for (const std::string& sentence : unused_ambient_options()) warn(console, report, sentence);
  const std::vector<std::string> unused = unused_petsc_options().given;
  FMBEM_REQUIRE(unused.empty(), "the PETSc option -"
                                    << unused.front()
                                    << " is unknown or was not used by anything (see fmbem -help)");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> inputs_of(const SolveCommandOptions& options) {
  std::vector<std::pair<std::string, std::string>> inputs;
  if (!options.mesh.file.empty()) inputs.emplace_back("mesh", options.mesh.file);
  if (options.problem) inputs.emplace_back("problem", *options.problem);
  return inputs;
}

void add_problem_option(CLI::App& app, SolveCommandOptions& options, const std::string& help) {
  app.add_option("--problem", options.problem, help)->type_name("FILE");
}

SolveRun::SolveRun(Context& context, const std::string& command, const SolveCommandOptions& options)
    : context_(context),
      options_(options),
      target_(context.console, options.output.json),
      report_(start_report(command, context.arguments)) {
  console().set_quiet(options.output.quiet);
}

void SolveRun::start() {
  if (options_.problem) {
    FMBEM_REQUIRE(
        options_.solve.problem.conductors.empty() && options_.solve.problem.permittivity == 1,
        "--conductor and --permittivity do not go with --problem: its file has "
        "\"regions\", and conductors of several groups by their \"name\"");
    file_ = read_problem(*options_.problem);
    std::vector<std::pair<std::string, std::string>> data;
    for (const std::string& file : file_->data_files) data.emplace_back("values", file);
    refuse_overwriting(outputs_, data);
    FMBEM_REQUIRE(!options_.hand_on.folder || !file_->problem.has_losses(),
                  "--export is for real systems, and "
                      << *options_.problem << " has complex permittivities: leave one of them out");
    add_input(*options_.problem);
    report_["problem"] = file_->json;
  }
  const ConductorOptions& problem = options_.solve.problem;
  threads_ = options_.solve.threads.value_or(default_threads());
  set_threads(threads_);
  check_operator_options(problem.op);
  start_solver_library(problem, context_, report_);
  if (problem.op.processor != Processor::cpu && problem.op.kind != OperatorOptions::Choice::dense)
    context_.device_start = start_device_beside();
}

void SolveRun::add_input(const std::string& file) { add_inputs(report_["run"]["inputs"], file); }

ConductorOptions SolveRun::options() {
  ConductorOptions problem = conductor_options(options_.solve, console());
  problem.op.time_stages = options_.output.json.has_value();
  problem.started = [this](std::size_t panels) {
    const std::string which =
        "mesh " + std::to_string(++meshes_) + " of " + std::to_string(levels_) + ", ";
    console().begin_phase((levels_ > 1 ? which : "") + counted(panels, "panel"));
  };
  if (options_.hand_on.folder)
    problem.inspect = [this, is_done = false](const SolvedSystem& system) mutable {
      if (meshes_ < levels_) return;
      if (std::exchange(is_done, true)) return;  // what comes later has other right-hand sides
      console().begin_phase("exporting to " + *options_.hand_on.folder);
      export_system(*options_.hand_on.folder, system, [this](double fraction) {
        console().progress(std::to_string(int(100 * fraction)) + " %", fraction);
      });
    };
  return problem;
}

void SolveRun::end_reading(const Timer& timer) {
  mesh_seconds_ = timer.seconds();
  add_input(options_.mesh.file);
  context_.device_start.request_stop();
}

SurfaceMesh SolveRun::load_joined(const std::vector<std::string>& files) {
  const Timer timer;
  std::vector<SurfaceMesh> meshes;
  for (const std::string& file : files) {
    console().begin_phase("reading " + file);
    meshes.push_back(load_mesh(file, {.unit = "angstrom", .tells_crossings = false}));
    add_input(file);
  }
  SurfaceMesh mesh = join_meshes(meshes);
  mesh_seconds_ += timer.seconds();
  return mesh;
}

SurfaceMesh SolveRun::load_finest() {
  const Timer timer;
  console().begin_phase("reading " + options_.mesh.file);
  SurfaceMesh mesh = load_mesh(options_.mesh.file, options_.mesh.load_options());
  end_reading(timer);
  return mesh;
}

MeshOfLevel SolveRun::load() {
  const Timer timer;
  const MeshOptions& mesh = options_.mesh;
  console().begin_phase("reading " + mesh.file);
  const int coarsest = std::max(0, mesh.refine - coarser_levels);
  const auto levels = std::make_shared<std::vector<SurfaceMesh>>(
      load_mesh_levels(mesh.file, mesh.load_options(), coarsest));
  end_reading(timer);
  levels_ = static_cast<int>(levels->size());
  return
      [=](int level) { return std::move((*levels)[static_cast<std::size_t>(level - coarsest)]); };
}

void SolveRun::tell(const ConductorSolution& solution, const SurfaceMesh& mesh,
                    const std::vector<std::string>& names, const std::string& results) {
  add_conductors(report_, solution);
  tell(solution, mesh, names, results, file_ ? regions_text(file_->problem) : "");
}

void SolveRun::tell(const LayerSolution& solution, const SurfaceMesh& mesh,
                    const std::vector<std::string>& names, const std::string& results,
                    const std::string& more) {
  check_petsc_options(console(), report_);
  const MeshReport check = check_mesh(mesh);
  console().print(problem_text(solution, mesh, check, threads_) + more);
  for (const std::string& sentence : mesh.notices) notice(console(), report_, sentence);
  if (!options_.solve.problem.op.processor && solution.op.kind == OperatorKind::fmm &&
      cuda_devices().empty())
    console().notice("no CUDA device: the CPU is used");
  console().print(solver_text(solution, names));
  console().print_result(results);
  warn_of_solves(console(), report_, solution, names);
  add_solution(report_, solution, mesh, check);
}

void SolveRun::check_outputs(
    std::vector<std::pair<std::string, std::optional<std::string>>> outputs,
    std::vector<std::pair<std::string, std::string>> inputs) {
  outputs_ = std::move(outputs);
  outputs_.emplace_back("--json", options_.output.json);
  for (auto& output : options_.hand_on.files()) outputs_.push_back(std::move(output));
  for (auto& input : inputs_of(options_)) inputs.push_back(std::move(input));
  refuse_overwriting(outputs_, inputs);
  options_.hand_on.check();
}

void SolveRun::complete(const LayerSolution& solution, bool converged, Json results,
                        std::optional<double> field_seconds) {
  report_["status"] = converged ? "solved" : "not_converged";
  report_["results"] = std::move(results);
  add_surroundings(report_["run"], threads_, solution.op.processor == Processor::gpu);
  if (const auto& folder = options_.hand_on.folder) console().print_wrote(*folder);
  account(console(), report_, solution, {mesh_seconds_, total_.seconds(), field_seconds});
}

ExitCode SolveRun::finish(const ProblemSolution& solution, bool converged, Json results,
                          std::optional<double> field_seconds, const SurfaceMesh& mesh) {
  complete(solution, converged, std::move(results), field_seconds);
  if (const auto& file = options_.hand_on.save) {
    save_solution(*file, mesh, solution, report_text(report_));
    console().print_wrote(*file);
  }
  return write_report(converged);
}

ExitCode SolveRun::finish(const LayerSolution& solution, bool converged, Json results,
                          std::optional<double> field_seconds) {
  complete(solution, converged, std::move(results), field_seconds);
  return write_report(converged);
}

ExitCode SolveRun::write_report(bool converged) {
  target_.write(report_);
  return converged ? ExitCode::solved : ExitCode::not_converged;
}

}  // namespace fmbem::cli
