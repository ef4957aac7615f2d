#include "cli/help.hpp"

#include <memory>
#include <optional>

#include "cli/layout.hpp"
#include "cli/program.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return broken(option->get_description(), line_width - column_width_, 0);
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == type.npos || end == type.npos) return {};
  return split_at_commas(type.substr(begin + 1, end - begin - 1));
}

std::string value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  std::string value;
  for (const std::string& word : choices_of(option)) (value += value.empty() ? "" : "|") += word;
  return value.empty() ? option.get_type_name() : value;
}

namespace {

struct HelpArguments {
  std::optional<std::string> command;
  bool man = false;
};

ExitCode run_help(Context& context, const HelpArguments& options) {
  CLI::App program;
  const std::vector<Command> commands = describe_program(program);
  const CLI::App& of = options.command ? *command_named(commands, *options.command).app : program;
  FMBEM_REQUIRE(!options.man || !options.command,
                "--man writes the manual page of all commands: leave out " << *options.command);
  context.console.write_stdout(options.man       ? manual_page(program)
                               : options.command ? of.help("fmbem")
                                                 : of.help());
  return ExitCode::solved;
}

}  // namespace

Command add_help(CLI::App& program) {
  auto options = std::make_shared<HelpArguments>();
  CLI::App* app = program.add_subcommand("help", "Tell of the program, or of one command");
  app->footer("Example:\n  fmbem help capacitance");
  app->add_option("COMMAND", options->command, "which; without it all are named");
  app->add_flag("--man", options->man, "the manual page of all commands, as man reads it");
  return {app, [options](Context& context) { return run_help(context, *options); }};
}

}  // namespace fmbem::cli
