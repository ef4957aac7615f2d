#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/hand_on.hpp"
#include "cli/problem_file.hpp"
#include "cli/report.hpp"
#include "cli/solve_options.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/problems/refinement_levels.hpp"

namespace fmbem::cli {

/// Options of every command that solves.
struct SolveCommandOptions {
  MeshOptions mesh;
  std::optional<std::string> problem;  ///< its file
  SolveOptions solve;
  OutputOptions output;
  HandOnOptions hand_on;
};

/// Files that must not be overwritten.
std::vector<std::pair<std::string, std::string>> inputs_of(const SolveCommandOptions& options);

/// --problem
void add_problem_option(CLI::App& app, SolveCommandOptions& options, const std::string& help);

/// What commands that solve have in common, from their first word to their report.
class SolveRun {
 public:
  /// Throws InputError for a report that cannot be written. The options must outlive it.
  SolveRun(Context& context, const std::string& command, const SolveCommandOptions& options);

  /// What comes before the mesh is read: the problem's file, threads, backend and PETSc.
  void start();
  /// How conductors are solved for, with progress on the console.
  ConductorOptions options();
  /// What the file says, if there is one. After start().
  const std::optional<ProblemFile>& file() const { return file_; }
  /// The finest mesh.
  SurfaceMesh load_finest();
  /// The meshes of the levels that are solved on; each is handed out once.
  MeshOfLevel load();
  /// The surfaces of these files together, in angstrom.
  SurfaceMesh load_joined(const std::vector<std::string>& files);

  /// Has the report say what a file was that the results depend on; load() does it for the mesh.
  void add_input(const std::string& file);

  /// Tells of the problem, the solver and what became of each right-hand side, which `names` names,
  /// with `results` behind it; adds all this to the report. Refuses PETSc options that nothing has
  /// asked for; those from the environment are only warned of.
  void tell(const ConductorSolution& solution, const SurfaceMesh& mesh,
            const std::vector<std::string>& names, const std::string& results);
  /// The same of what has no conductors, with `more` told of the problem.
  void tell(const LayerSolution& solution, const SurfaceMesh& mesh,
            const std::vector<std::string>& names, const std::string& results,
            const std::string& more);

  /// Refuses outputs that cannot be written, or that would overwrite each other or one of `inputs`;
  /// `outputs` are the command's own. To be called before start(), which knows of more inputs.
  void check_outputs(std::vector<std::pair<std::string, std::optional<std::string>>> outputs,
                     std::vector<std::pair<std::string, std::string>> inputs = {});

  /// Completes the report, writes it and keeps the solution with it. field_seconds is the time of
  /// evaluating a field.
  ExitCode finish(const ProblemSolution& solution, bool converged, Json results,
                  std::optional<double> field_seconds, const SurfaceMesh& mesh);
  /// The same of what is not kept.
  ExitCode finish(const LayerSolution& solution, bool converged, Json results,
                  std::optional<double> field_seconds);

  Console& console() { return context_.console; }
  Json& report() { return report_; }

 private:
  void end_reading(const Timer& timer);
  void complete(const LayerSolution& solution, bool converged, Json results,
                std::optional<double> field_seconds);
  ExitCode write_report(bool converged);

  Timer total_;
  Context& context_;
  const SolveCommandOptions& options_;
  ReportTarget target_;
  Json report_;
  std::optional<ProblemFile> file_;
  std::vector<std::pair<std::string, std::optional<std::string>>> outputs_;  ///< and their options
  int threads_ = 1;
  int meshes_ = 0, levels_ = 1;  ///< meshes that a solve has begun on, and those there will be
  double mesh_seconds_ = 0;
};

}  // namespace fmbem::cli
