#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace fmbem::cli {

/// Adds the program's description and all of its commands to `program`.
std::vector<Command> describe_program(CLI::App& program);

/// The command of that name. Throws InputError where there is none.
const Command& command_named(const std::vector<Command>& commands, const std::string& name);

/// Ends with one sentence on standard error.
int fail(Context& context, ExitCode code, const std::string& sentence);

/// Parses the command line and runs what it says; returns the exit code. Throws as commands do.
int run_program(Context& context);

}  // namespace fmbem::cli
