#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <system_error>

#include <unistd.h>

#include "cli/commands.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace {

using namespace fmbem;
using namespace fmbem::cli;

int fail(Context& context, ExitCode code, const std::string& sentence) {
  context.console.clear_progress();
  if (mpi_rank() == 0)  // one sentence, not one from each rank
    std::cerr << "fmbem: " << sentence << '\n';
  return static_cast<int>(code);
}

// CLI11's message, in one line, with the way to the help.
std::string usage_sentence(const CLI::App& app, const CLI::ParseError& error,
                           const Arguments& arguments) {
  std::string what = error.what();
  for (char& c : what)
    if (c == '\n') c = ' ';
  std::string sentence = what + " (see " + app.get_name() + " --help)";
  const bool word_is_missing = what.find("is required") != std::string::npos;
  if (word_is_missing && !arguments.petsc.empty() && arguments.petsc.back()[0] != '-')
    sentence +=
        "; the word \"" + arguments.petsc.back() +
        "\" was taken for the value of the PETSc option before it: put the command and MESH first";
  return sentence;
}

int run(Context& context) {
  CLI::App program("Fast multipole boundary element solver for electrostatics", "fmbem");
  program.set_version_flag("--version", std::string("fmbem ") + FMBEM_VERSION);
  program.require_subcommand(1);
  program.footer(
      "A single dash with more than one letter is a PETSc option, such as -ksp_monitor.\n"
      "fmbem COMMAND --help tells of a command, fmbem -help of PETSc's options.");
  const std::vector<Command> commands{
      add_capacitance(program), add_field(program), add_mesh(program), add_mesh_info(program),
      add_info(program),        add_study(program), add_tune(program)};

  if (context.arguments.asks_petsc_help()) {
    start_petsc(context.arguments.petsc);
    print_petsc_help();
    finish_petsc();
    return 0;
  }
  if (!context.arguments.program.empty() && context.arguments.program.front()[0] != '-') {
    const std::string& word = context.arguments.program.front();
    FMBEM_REQUIRE(std::any_of(commands.begin(), commands.end(),
                              [&](const Command& c) { return c.app->get_name() == word; }),
                  "there is no command \"" << word << "\" (see fmbem --help)");
  }
  std::vector<std::string> words(context.arguments.program.rbegin(),
                                 context.arguments.program.rend());  // CLI11 takes them reversed
  try {
    program.parse(words);
  } catch (const CLI::Success& e) {
    return program.exit(e);
  } catch (const CLI::ParseError& e) {
    const auto parsed = program.get_subcommands();
    const std::string name = parsed.empty() ? "fmbem" : "fmbem " + parsed.front()->get_name();
    CLI::App named("", name);
    return fail(context, ExitCode::bad_input, usage_sentence(named, e, context.arguments));
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    FMBEM_REQUIRE(command.takes_petsc_options || context.arguments.petsc.empty(),
                  "fmbem " << command.app->get_name() << " takes no PETSc options, such as "
                           << context.arguments.petsc.front()
                           << " (single-letter options and those "
                              "with two dashes are the program's)");
    return static_cast<int>(command.run(context));
  }
  return static_cast<int>(ExitCode::internal_error);
}

}  // namespace

int main(int argc, char** argv) {
  Context context;
  context.arguments = split_arguments(argc, argv);
  // A closed pipe and a file that gets too large are errors of write(), not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  handle_interrupts();
  int code = 0;
  try {
    code = run(context);
  } catch (const Error& e) {
    code = fail(context, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    code = fail(context, ExitCode::out_of_resource,
                "out of memory: use a coarser mesh or close other programs");
  } catch (const std::system_error& e) {  // of a thread that cannot start
    const bool no_room = e.code() == std::errc::resource_unavailable_try_again ||
                         e.code() == std::errc::not_enough_memory;
    code = no_room ? fail(context, ExitCode::out_of_resource,
                          "no room for another thread: raise the limits, ulimit -u and -v, or use "
                          "fewer --threads")
                   : fail(context, ExitCode::internal_error,
                          std::string("internal error: ") + e.what());
  } catch (const std::exception& e) {
    code = fail(context, ExitCode::internal_error, std::string("internal error: ") + e.what());
  }
  finish_petsc();
  if (code == static_cast<int>(ExitCode::out_of_resource)) {
    // A thread of OpenBLAS may be waiting for memory, and its end would wait for that thread.
    std::cout.flush();
    std::fflush(nullptr);
    _exit(code);
  }
  return code;
}
