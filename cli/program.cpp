#include "cli/program.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

#include "cli/common_options.hpp"
#include "cli/help.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem::cli {
namespace {

// CLI11's message, in one line, with the way to the help.
std::string usage_sentence(const std::string& name, const CLI::ParseError& error,
                           const Arguments& arguments) {
  std::string what = error.what();
  for (char& c : what)
    if (c == '\n') c = ' ';
  std::string sentence = what + " (see " + name + " --help)";
  const bool word_is_missing = what.find("is required") != std::string::npos;
  if (word_is_missing && !arguments.petsc.empty() && arguments.petsc.back()[0] != '-')
    sentence +=
        "; the word \"" + arguments.petsc.back() +
        "\" was taken for the value of the PETSc option before it: put the command and MESH first";
  return sentence;
}

/// An empty number would be read as 0.
void refuse_empty_values(const std::vector<std::string>& words) {
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool ends_in_sign = words[k].starts_with("--") && words[k].ends_with('=');
    FMBEM_REQUIRE(!words[k].empty() && !ends_in_sign,
                  "the value of " << (ends_in_sign ? words[k].substr(0, words[k].size() - 1)
                                      : k > 0      ? words[k - 1]
                                                   : "fmbem")
                                  << " is empty: is a variable of the shell not set?");
  }
}

}  // namespace

std::vector<Command> describe_program(CLI::App& program) {
  program.description("Fast multipole boundary element solver for electrostatics");
  program.name("fmbem");
  program.set_version_flag("--version", std::string("fmbem ") + FMBEM_VERSION);
  program.require_subcommand(1);
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(
      "A single dash with more than one letter is a PETSc option, such as -ksp_monitor.\n"
      "fmbem COMMAND --help tells of a command, fmbem -help of PETSc's options.");
  return {add_solve(program),     add_capacitance(program), add_field(program),
          add_solvate(program),   add_bind(program),        add_mesh(program),
          add_mesh_info(program), add_plot(program),        add_rerun(program),
          add_info(program),      add_study(program),       add_nbody(program),
          add_tune(program),      add_help(program),        add_completion(program)};
}

const Command& command_named(const std::vector<Command>& commands, const std::string& name) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& c) { return c.app->get_name() == name; });
  FMBEM_REQUIRE(found != commands.end(),
                "there is no command \"" << name << "\" (see fmbem --help)");
  return *found;
}

int fail(Context& context, ExitCode code, const std::string& sentence) {
  if (mpi_rank() == 0)  // one sentence, not one from each rank
    context.console.error(sentence);
  return static_cast<int>(code);
}

int run_program(Context& context) {
  CLI::App program;
  const std::vector<Command> commands = describe_program(program);
  if (context.arguments.asks_petsc_help()) {
    start_petsc(context.arguments.petsc);
    print_petsc_help();
    finish_petsc();
    return 0;
  }
  refuse_empty_values(context.arguments.program);
  if (!context.arguments.program.empty() && context.arguments.program.front()[0] != '-')
    command_named(commands, context.arguments.program.front());
  if (context.is_repeated)
    for (const Command& command : commands) let_outputs_be_left_out(*command.app);
  std::vector<std::string> words(context.arguments.program.rbegin(),
                                 context.arguments.program.rend());  // CLI11 takes them reversed
  try {
    program.parse(words);
  } catch (const CLI::Success& e) {
    std::ostringstream text;
    program.exit(e, text, text);
    context.console.write_stdout(text.str());
    return 0;
  } catch (const CLI::ParseError& e) {
    const auto parsed = program.get_subcommands();
    const std::string name = parsed.empty() ? "fmbem" : "fmbem " + parsed.front()->get_name();
    return fail(context, ExitCode::bad_input, usage_sentence(name, e, context.arguments));
  }
  const Command& command = command_named(commands, program.get_subcommands().front()->get_name());
  FMBEM_REQUIRE(command.takes_petsc_options || context.arguments.petsc.empty(),
                "fmbem " << command.app->get_name() << " takes no PETSc options, such as "
                         << context.arguments.petsc.front()
                         << " (single-letter options and those "
                            "with two dashes are the program's)");
  const ExitCode code = command.run(context);
  context.console.require_printed();
  return static_cast<int>(code);
}

}  // namespace fmbem::cli
