#include "cli/console.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/layout.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// What is said when a call has just failed.
std::string stdout_trouble() {
  return std::string("cannot write to standard output: ") + std::strerror(errno);
}

}  // namespace

void Console::reserve_stdout() {
  if (saved_stdout_ >= 0) return;
  std::cout.flush();
  std::fflush(stdout);
  saved_stdout_ = dup(STDOUT_FILENO);
  if (saved_stdout_ < 0) throw ResourceError(stdout_trouble());
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
    if (count <= 0) throw ResourceError(stdout_trouble());
    done += static_cast<std::size_t>(count);
  }
}

void Console::write_line(const std::string& text) {
  clear_progress();
  has_printed_ = true;
  if (!print_error_.empty()) return;
  std::cout << text << '\n' << std::flush;
  if (!std::cout) print_error_ = stdout_trouble();
}

void Console::require_printed() const {
  if (!print_error_.empty()) throw ResourceError(print_error_);
}

void Console::print(const std::string& text) {
  if (!quiet_ && !captured_) write_line(wrapped(text));
}

void Console::print_result(const std::string& text) {
  if (captured_ || text.empty()) return;
  const std::string own = wrapped(text.substr(text.find_first_not_of('\n')));
  write_line(quiet_ || !has_printed_ ? own : '\n' + own);
}

void Console::print_wrote(const std::string& file) {
  print((has_written_ || !has_printed_ ? "" : "\n") + std::string("wrote ") + file);
  has_written_ = true;
}

void Console::say(const char* kind, const char* colour, const std::string& sentence) {
  clear_progress();
  const char* const no_color = std::getenv("NO_COLOR");
  const bool is_coloured = isatty(STDERR_FILENO) && !(no_color && *no_color);
  std::cerr << (is_coloured ? colour : "") << "fmbem: " << kind << (is_coloured ? "\033[0m" : "")
            << printable(sentence) << '\n';
}

void Console::notice(const std::string& sentence) {
  if (!quiet_) say("notice: ", "\033[36m", sentence);
}

void Console::warning(const std::string& sentence) { say("warning: ", "\033[33m", sentence); }

void Console::error(const std::string& sentence) { say("", "\033[31m", sentence); }

void Console::show(const std::string& line) {
  // What is longer would leave lines behind when it is rewritten.
  winsize size{};
  const bool is_known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  last_shown_ = Clock::now();
  line_shown_ = true;
  std::cerr << "\r\033[K" << line.substr(0, is_known ? size.ws_col - 1 : 79) << std::flush;
}

void Console::begin_phase(const std::string& what) {
  phase_start_ = Clock::now();
  phase_ = what;
  if (!quiet_ && isatty(STDERR_FILENO)) show(what);
}

void Console::progress(const std::string& how_far, double fraction) {
  const auto now = Clock::now();
  const std::chrono::duration<double> taken = now - phase_start_;
  if (quiet_ || taken < std::chrono::seconds(2) ||
      now - last_shown_ < std::chrono::milliseconds(100) || !isatty(STDERR_FILENO))
    return;
  std::string line = phase_ + ": " + how_far;
  if (fraction > 0 && fraction < 1)
    line += ", " + duration_text(taken.count() * (1 - fraction) / fraction) + " left";
  show(line);
}

void Console::clear_progress() {
  if (line_shown_) std::cerr << "\r\033[K" << std::flush;
  line_shown_ = false;
}

}  // namespace fmbem::cli
