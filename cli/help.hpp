#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace fmbem::cli {

/// CLI11's help, with descriptions that keep to the width.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
};

/// The commands of the program that have a help.
std::vector<const CLI::App*> commands_of(const CLI::App& program);

/// The words that an option takes, if it takes one of some: CLI11 writes them {a,b} behind the
/// type.
std::vector<std::string> choices_of(const CLI::Option& option);

/// What an option takes as the help has it, such as FILE; empty for flags.
std::string value_of(const CLI::Option& option);

/// A completion script for bash, for all commands, options, their words and files.
std::string bash_completion(const CLI::App& program);

/// The manual page fmbem(1), in roff.
std::string manual_page(const CLI::App& program);

}  // namespace fmbem::cli
