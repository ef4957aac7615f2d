#include "cli/solve_options.hpp"

#include <chrono>
#include <condition_variable>
#include <iomanip>
#include <mutex>
#include <sstream>

#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

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

void check_backend(const SolveOptions& options, Console& console, Json& report) {
  const bool dense = options.operator_kind == "dense";
  if (options.backend == "cuda") {
    require_cuda_device();
    FMBEM_REQUIRE(!dense,
                  "the dense operator runs on the CPU: use --backend cpu, or --operator fmm");
  }
  if (options.near_field == "lean") {
    FMBEM_REQUIRE(options.backend != "cpu" && !dense,
                  "--near-field lean is for the FMM on a GPU: leave it out on the CPU");
    require_cuda_device();
  }
  if (options.backend == "auto" && cuda_devices().empty())
    notice(console, report, "no CUDA device: the CPU is used");
}

void start_solver_library(const SolveOptions& options, Context& context, Json& report) {
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

/// Starts the GPU once reading the mesh takes so long that there will be panels enough for it.
std::jthread start_device_beside() {
  return std::jthread([](const std::stop_token& mesh_is_read) {
    constexpr std::chrono::milliseconds a_while{100};
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait_for(lock, mesh_is_read, a_while, [] { return false; });
    if (!mesh_is_read.stop_requested()) start_cuda_device();
  });
}

}  // namespace

void add_solve_options(CLI::App& app, SolveOptions& options) {
  app.add_option("--conductor", options.conductors,
                 "join groups to one conductor; every other group is one by itself")
      ->type_name("NAME=GROUP,...")
      ->allow_extra_args(false);
  app.add_option("--tolerance", options.tolerance,
                 "relative residual of the solve, 1e-13 to 0.5; -ksp_rtol beats it")
      ->capture_default_str();
  app.add_option("--operator-tolerance", options.operator_tolerance,
                 "relative error of the operator (default: a tenth of the solver's tolerance)");
  app.add_option("--operator", options.operator_kind,
                 "how V is applied; auto: dense where that is faster")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "fmm", "dense"}));
  app.add_option("--backend", options.backend,
                 "where V is applied; auto: a GPU where there is one, but for few panels")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
  app.add_option("--near-field", options.near_field,
                 "on a GPU: stored entries, or lean: integrated in every product, for meshes that "
                 "would not fit; auto: stored where there is room")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "stored", "lean"}));
  app.add_option("--precision", options.precision, "of stored entries; auto: by the tolerance")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "double", "single"}));
  app.add_option("--threads", options.threads, "default: the cores that the process may use");
}

ConductorOptions conductor_options(const SolveOptions& options, Console& console) {
  ConductorOptions result;
  for (const std::string& text : options.conductors)
    result.conductors.push_back(parse_conductor(text));
  result.tolerance = options.tolerance;
  if (options.operator_tolerance) {
    FMBEM_REQUIRE(
        *options.operator_tolerance >= 1e-15 && *options.operator_tolerance <= 0.5,
        "--operator-tolerance must be between 1e-15 and 0.5, not " << *options.operator_tolerance);
    result.operator_tolerance = *options.operator_tolerance;
  }
  if (options.operator_kind == "dense") result.operator_kind = OperatorOptions::Choice::dense;
  if (options.operator_kind == "fmm") result.operator_kind = OperatorOptions::Choice::fmm;
  if (options.backend == "auto") result.processor = std::nullopt;
  if (options.backend == "cuda") result.processor = Processor::gpu;
  if (options.near_field == "stored") result.near_field = OperatorOptions::NearField::stored;
  if (options.near_field == "lean") {
    result.near_field = OperatorOptions::NearField::lean;
    result.processor = Processor::gpu;  // whatever is faster: the CPU has none
  }
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

int start_solving(const SolveOptions& options, Context& context, Json& report) {
  const int threads = options.threads ? *options.threads : available_cores();
  set_threads(threads);
  check_backend(options, context.console, report);
  start_solver_library(options, context, report);
  if (options.backend != "cpu" && options.operator_kind != "dense")
    context.device_start = start_device_beside();
  return threads;
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

}  // namespace fmbem::cli
