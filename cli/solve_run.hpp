#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/report.hpp"
#include "cli/solve_options.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/problems/refinement_levels.hpp"

namespace fmbem::cli {

/// Options of every command that solves.
struct SolveCommandOptions {
  MeshOptions mesh;
  SolveOptions solve;
  OutputOptions output;
};

/// What commands that solve have in common, from their first word to their report.
class SolveRun {
 public:
  /// Throws InputError for a report that cannot be written. The options must outlive it.
  SolveRun(Context& context, const std::string& command, const SolveCommandOptions& options);

  /// What comes before the mesh is read: threads, backend and PETSc.
  void start();
  /// The problem's options, with progress on the console.
  ConductorOptions problem();
  /// The meshes of the levels that are solved on; each is handed out once. What follows is a new
  /// phase of progress.
  MeshOfLevel load();

  /// Tells of the problem, the solver and what became of each right-hand side, which `names` names,
  /// with `results` behind it; adds all this to the report. Refuses PETSc options that nothing has
  /// asked for; those from the environment are only warned of.
  void tell(const ConductorSolution& solution, const SurfaceMesh& mesh,
            const std::vector<std::string>& names, const std::string& results = "");

  /// Completes the report and writes it. field_seconds is the time of evaluating a field.
  ExitCode finish(const ConductorSolution& solution, bool converged, Json results,
                  std::optional<double> field_seconds = {});

  Console& console() { return context_.console; }
  Json& report() { return report_; }

 private:
  Timer total_;
  Context& context_;
  const SolveCommandOptions& options_;
  ReportTarget target_;
  Json report_;
  int threads_ = 1;
  double mesh_seconds_ = 0;
};

}  // namespace fmbem::cli
