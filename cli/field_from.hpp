#pragma once

#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common_options.hpp"
#include "cli/field_options.hpp"

namespace fmbem::cli {

/// Of fmbem field --from: a solution that --save has kept, evaluated without solving again.
struct FieldFromOptions {
  std::string solution;
  FieldCommandOptions field;
  std::optional<std::string> file, picture;
  OutputOptions output;
  std::optional<int> threads;
  std::optional<Processor> processor;  ///< by default that of the solve, if it is there
};

/// Evaluates all results of the solution or, with --voltage or where they are those of unit
/// voltages alone, their sum at these voltages.
ExitCode run_field_from(Context& context, const FieldFromOptions& options);

/// Options that say how to solve are for who solves. Throws InputError.
void refuse_options_of_solves(const CLI::App& app, const Arguments& arguments);

}  // namespace fmbem::cli
