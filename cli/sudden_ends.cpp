#include "cli/sudden_ends.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include <unistd.h>

#include "fmbem/meshes/child_process.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem::cli {

Ending ending_of_exception() {
  try {
    throw;
  } catch (const Error& e) {
    return {e.code(), "", e.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::out_of_resource, "",
            "out of memory: use a coarser mesh or a looser tolerance, or close other programs"};
  } catch (const std::system_error& e) {  // of a thread that cannot start
    if (e.code() == std::errc::resource_unavailable_try_again ||
        e.code() == std::errc::not_enough_memory)
      return {ExitCode::out_of_resource, "",
              "no room for another thread: raise the limits, ulimit -u and -v, or use fewer "
              "--threads"};
    return {ExitCode::internal_error, "internal error: ", e.what()};
  } catch (const std::exception& e) {
    return {ExitCode::internal_error, "internal error: ", e.what()};
  }
}

namespace {

/// By calls alone that are safe in a signal handler.
template <class... Text>
[[noreturn]] void end_at_once(int code, Text... text) {
  end_child();  // or it would write on
  remove_partial_output();
  const auto say = [](const char* part) {
    const auto written = ::write(STDERR_FILENO, part, std::strlen(part));
    static_cast<void>(written);  // there is nobody else to tell
  };
  (say(text), ...);
  _exit(code);
}

extern "C" void end_on_signal(int signal) {
  if (hold_interrupt(signal)) return;
  end_at_once(128 + signal, "\nfmbem: interrupted\n");
}

[[noreturn]] void end_on_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception&) {
    const auto [code, before, what] = ending_of_exception();
    end_at_once(static_cast<int>(code), "fmbem: ", before, what, "\n");
  } catch (...) {
  }
  end_at_once(static_cast<int>(ExitCode::internal_error),
              "fmbem: internal error: the program ended itself\n");
}

bool main_has_returned = false;

/// libgomp ends the process where a thread cannot start, OpenBLAS where it finds no memory.
extern "C" void end_on_exit_of_library(int status, void*) {
  if (main_has_returned || status == 0) return;
  end_at_once(static_cast<int>(ExitCode::out_of_resource),
              "fmbem: a library ended the program, for want of memory or threads: use a coarser "
              "mesh, fewer --threads, or raise the limits, ulimit -u and -v\n");
}

}  // namespace

void handle_sudden_ends() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU})
    if (std::signal(signal, end_on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);  // by nohup
  std::set_terminate(end_on_exception);
  on_exit(end_on_exit_of_library, nullptr);
}

void let_main_return() { main_has_returned = true; }

}  // namespace fmbem::cli
