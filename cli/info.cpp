#include <iomanip>
#include <memory>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/report.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

ExitCode run(Context& context, const OutputOptions& options) {
  Console& console = context.console;
  console.set_quiet(options.quiet);
  ReportTarget target(console, options.json);

  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& {
    return out << '\n' << std::left << std::setw(12) << name;
  };
  Json devices = Json::array();
  out << "fmbem " << FMBEM_VERSION;
  line("build") << FMBEM_BUILD_TYPE << ", " << FMBEM_COMPILER;
  line("PETSc") << petsc_version();
  const std::string gmsh = gmsh_version();
  line("Gmsh") << (gmsh.empty() ? "not found" : gmsh);
  line("CUDA") << (built_with_cuda() ? cuda_runtime_version() : "not in this build");
  line("cores") << available_cores();
  line("memory") << std::setprecision(3) << available_memory() / gib << " GiB free";
  line("backends") << (built_with_cuda() ? "cpu, cuda" : "cpu");
  for (const DeviceInfo& device : cuda_devices()) {
    line("device") << device.name << ", compute capability " << device.compute_capability / 10
                   << '.' << device.compute_capability % 10 << ", " << device.memory_bytes / gib
                   << " GiB";
    devices.push_back({{"name", device.name},
                       {"compute_capability", device.compute_capability},
                       {"memory_bytes", device.memory_bytes}});
  }
  if (devices.empty()) line("device") << "no GPU: everything runs on the CPU";
  console.print_result(out.str());

  Json report = start_report("info", context.arguments);
  report["build"] = {
      {"type", FMBEM_BUILD_TYPE},
      {"compiler", FMBEM_COMPILER},
      {"petsc", petsc_version()},
      {"gmsh", gmsh.empty() ? Json(nullptr) : Json(gmsh)},
      {"cuda", built_with_cuda() ? Json(cuda_runtime_version()) : Json(nullptr)},
      {"cores", available_cores()},
      {"backends", built_with_cuda() ? Json::array({"cpu", "cuda"}) : Json::array({"cpu"})},
      {"devices", devices}};
  target.write(report);
  return ExitCode::solved;
}

}  // namespace

Command add_info(CLI::App& program) {
  auto options = std::make_shared<OutputOptions>();
  CLI::App* app = program.add_subcommand("info", "Tell the version, the libraries and the devices");
  app->footer("Example:\n  fmbem info --json -");
  add_output_options(*app, *options);
  return {app, [options](Context& context) { return run(context, *options); }};
}

}  // namespace fmbem::cli
