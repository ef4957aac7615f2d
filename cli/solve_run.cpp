#include "cli/solve_run.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "cli/solve_report.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

void start_solver_library(const ConductorOptions& problem, Context& context, Json& report) {
  start_petsc(context.arguments.petsc);
  FMBEM_REQUIRE(mpi_ranks() == 1, "fmbem runs on one MPI rank for now: start it without mpirun");
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

}  // namespace

SolveRun::SolveRun(Context& context, const std::string& command, const SolveCommandOptions& options)
    : context_(context),
      options_(options),
      target_(context.console, options.output.json),
      report_(start_report(command)) {
  console().set_quiet(options.output.quiet);
}

void SolveRun::start() {
  const ConductorOptions& problem = options_.solve.problem;
  threads_ = options_.solve.threads.value_or(available_cores());
  set_threads(threads_);
  check_operator_options(problem.op);
  if (!problem.op.processor && cuda_devices().empty())
    notice(console(), report_, "no CUDA device: the CPU is used");
  start_solver_library(problem, context_, report_);
  if (problem.op.processor != Processor::cpu && problem.op.kind != OperatorOptions::Choice::dense)
    context_.device_start = start_device_beside();
}

ConductorOptions SolveRun::problem() {
  ConductorOptions problem = conductor_options(options_.solve, console());
  problem.op.time_stages = options_.output.json.has_value();
  return problem;
}

MeshOfLevel SolveRun::load() {
  const Timer timer;
  const MeshOptions& mesh = options_.mesh;
  const int coarsest = std::max(0, mesh.refine - coarser_levels);
  const auto levels = std::make_shared<std::vector<SurfaceMesh>>(
      load_mesh_levels(mesh.file, mesh.load_options(), coarsest));
  mesh_seconds_ = timer.seconds();
  context_.device_start.request_stop();
  console().begin_phase();
  return
      [=](int level) { return std::move((*levels)[static_cast<std::size_t>(level - coarsest)]); };
}

void SolveRun::tell(const ConductorSolution& solution, const SurfaceMesh& mesh,
                    const std::vector<std::string>& names, const std::string& results) {
  check_petsc_options(console(), report_);
  const MeshReport check = check_mesh(mesh);
  console().print(problem_text(solution, mesh, check, threads_) +
                  media_text(options_.solve.problem));
  for (const std::string& sentence : mesh.notices) notice(console(), report_, sentence);
  console().print(solver_text(solution, names) + results);
  warn_of_solves(console(), report_, solution, names);
  add_solution(report_, solution, mesh, check);
  add_media(report_, options_.solve.problem);
}

ExitCode SolveRun::finish(const ConductorSolution& solution, bool converged, Json results,
                          std::optional<double> field_seconds) {
  report_["status"] = converged ? "solved" : "not_converged";
  report_["results"] = std::move(results);
  account(console(), report_, solution, {mesh_seconds_, total_.seconds(), field_seconds});
  target_.write(report_);
  return converged ? ExitCode::solved : ExitCode::not_converged;
}

}  // namespace fmbem::cli
