#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include <unistd.h>

#include "cli/program.hpp"
#include "cli/sudden_ends.hpp"
#include "fmbem/solvers/petsc_session.hpp"

int main(int argc, char** argv) {
  using namespace fmbem;
  using namespace fmbem::cli;
  Context context;
  context.arguments = split_arguments({argv + 1, argv + argc});
  // A closed pipe and a file that gets too large are errors of write(), not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  handle_sudden_ends();
  int code = 0;
  try {
    code = run_program(context);
  } catch (const std::exception&) {
    const auto [ending, before, what] = ending_of_exception();
    code = fail(context, ending, std::string(before) + what);
  }
  finish_petsc();
  if (code == static_cast<int>(ExitCode::out_of_resource)) {
    // A thread of OpenBLAS may be waiting for memory, and its end would wait for that thread.
    std::cout.flush();
    std::fflush(nullptr);
    _exit(code);
  }
  let_main_return();
  return code;
}
