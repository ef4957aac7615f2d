#pragma once

#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/arguments.hpp"
#include "cli/console.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cli {

/// What every command gets from the program.
struct Context {
  Console console;
  Arguments arguments;
  std::jthread device_start;  ///< of the GPU, beside reading the mesh; told to stop when it is read
  bool is_repeated = false;   ///< by fmbem rerun: no output is written, and none has to be named
  std::set<std::string> earlier_results;  ///< of the report that fmbem rerun repeats, by name
};

/// Each adds its subcommand to the program and returns what runs it, once the line has been parsed.
using Run = std::function<ExitCode(Context&)>;
struct Command {
  CLI::App* app;
  Run run;
  bool takes_petsc_options = false;
};

Command add_capacitance(CLI::App& program);
Command add_field(CLI::App& program);
Command add_mesh(CLI::App& program);
Command add_mesh_info(CLI::App& program);
Command add_nbody(CLI::App& program);
Command add_plot(CLI::App& program);
Command add_bind(CLI::App& program);
Command add_rerun(CLI::App& program);
Command add_info(CLI::App& program);
Command add_solvate(CLI::App& program);
Command add_solve(CLI::App& program);
Command add_study(CLI::App& program);
Command add_tune(CLI::App& program);
Command add_help(CLI::App& program);
Command add_completion(CLI::App& program);

}  // namespace fmbem::cli
