#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/console.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem::cli {

/// --conductor --tolerance --operator-tolerance --operator --order --max-leaf
/// --overhang --backend
/// --near-field --precision --threads
struct SolveOptions {
  ConductorOptions problem{{.op = {.processor = std::nullopt, .tolerance = 0}}};
  std::optional<int> threads;
};
void add_conductor_option(CLI::App& app, SolveOptions& options);
void add_solve_options(CLI::App& app, SolveOptions& options);

/// Throws InputError for options that exclude each other and for a GPU that is not there.
void check_operator_options(const OperatorOptions& op);

/// What was asked for and what follows from it, with progress on the console.
ConductorOptions conductor_options(const SolveOptions& options, Console& console);

}  // namespace fmbem::cli
