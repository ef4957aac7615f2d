#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem::cli {

/// --conductor --tolerance --operator-tolerance --operator --backend --near-field --precision
/// --threads
struct SolveOptions {
  std::vector<std::string> conductors;
  double tolerance = 1e-6;
  std::optional<double> operator_tolerance;
  std::string operator_kind = "auto", backend = "auto", near_field = "auto", precision = "auto";
  std::optional<int> threads;
};
void add_solve_options(CLI::App& app, SolveOptions& options);

/// For the library, with progress on the console.
ConductorOptions conductor_options(const SolveOptions& options, Console& console);

/// What comes before the mesh is read: threads, backend and PETSc. Returns the number of threads.
int start_solving(const SolveOptions& options, Context& context, Json& report);

/// Refuses PETSc options that nothing has asked for; those from the environment are only warned of.
void check_petsc_options(Console& console, Json& report);

}  // namespace fmbem::cli
