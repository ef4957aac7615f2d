#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include <system_error>

#include <unistd.h>

#include "cli/program.hpp"
#include "fmbem/solvers/petsc_session.hpp"

int main(int argc, char** argv) {
  using namespace fmbem;
  using namespace fmbem::cli;
  Context context;
  context.arguments = split_arguments({argv + 1, argv + argc});
  // A closed pipe and a file that gets too large are errors of write(), not deaths.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  handle_interrupts();
  handle_exits_of_libraries();
  int code = 0;
  try {
    code = run_program(context);
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
  let_main_return();
  return code;
}
