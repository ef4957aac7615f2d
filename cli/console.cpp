#include "cli/console.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <unistd.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/output_file.hpp"

namespace fmbem::cli {

void Console::reserve_stdout() {
  if (saved_stdout_ >= 0) return;
  std::cout.flush();
  std::fflush(stdout);
  saved_stdout_ = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

void Console::write_stdout(const std::string& text) {
  if (captured_) {
    *captured_ += text;
    return;
  }
  const int file = saved_stdout_ >= 0 ? saved_stdout_ : STDOUT_FILENO;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      throw ResourceError(std::string("cannot write to standard output: ") + std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
}

void Console::print(const std::string& text) {
  if (quiet_ || captured_) return;
  clear_progress();
  std::cout << text << '\n' << std::flush;
  if (!std::cout)
    throw ResourceError(std::string("cannot write to standard output: ") + std::strerror(errno));
}

void Console::notice(const std::string& sentence) {
  if (quiet_) return;
  clear_progress();
  std::cerr << "fmbem: notice: " << sentence << '\n';
}

void Console::warning(const std::string& sentence) {
  clear_progress();
  std::cerr << "fmbem: warning: " << sentence << '\n';
}

void Console::begin_phase() { phase_start_ = Clock::now(); }

void Console::progress(const std::string& text) {
  const auto now = Clock::now();
  if (quiet_ || now - phase_start_ < std::chrono::seconds(2) ||
      now - last_shown_ < std::chrono::milliseconds(100) || !isatty(STDERR_FILENO))
    return;
  last_shown_ = now;
  line_shown_ = true;
  std::cerr << "\r\033[K" << text << std::flush;
}

void Console::clear_progress() {
  if (line_shown_) std::cerr << "\r\033[K" << std::flush;
  line_shown_ = false;
}

namespace {

extern "C" void end_on_signal(int signal) {
  remove_partial_output();
  constexpr char message[] = "\nfmbem: interrupted\n";
  // Only calls that are safe in a signal handler.
  if (::write(STDERR_FILENO, message, sizeof message - 1) < 0) _exit(128 + signal);
  _exit(128 + signal);
}

}  // namespace

void handle_interrupts() {
  std::signal(SIGINT, end_on_signal);
  std::signal(SIGTERM, end_on_signal);
  std::signal(SIGHUP, end_on_signal);
  std::signal(SIGXCPU, end_on_signal);
}

}  // namespace fmbem::cli
