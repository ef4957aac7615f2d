#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

namespace fmbem::cli {

/// Where the program's words go: results to standard output, all else to standard error. After
/// reserve_stdout() whatever is printed to standard output, by any library, goes to standard error,
/// and only write_stdout() still reaches standard output.
class Console {
 public:
  void reserve_stdout();
  /// Throws ResourceError if the reader is gone or the disk is full.
  void write_stdout(const std::string& text);

  void set_quiet(bool quiet) { quiet_ = quiet; }
  bool quiet() const { return quiet_; }

  /// A line of the results; nothing when quiet.
  void print(const std::string& text);
  /// "fmbem: notice: …" on standard error; nothing when quiet.
  void notice(const std::string& sentence);
  /// "fmbem: warning: …" on standard error.
  void warning(const std::string& sentence);

  /// Starts a phase that progress() tells of.
  void begin_phase();
  /// Rewrites one line on a terminal, at most ten times a second, and only once a phase has taken
  /// longer than two seconds.
  void progress(const std::string& text);
  void clear_progress();

 private:
  using Clock = std::chrono::steady_clock;
  int saved_stdout_ = -1;
  bool quiet_ = false, line_shown_ = false;
  Clock::time_point phase_start_ = Clock::now(), last_shown_{};
};

/// From now on SIGINT, SIGTERM, SIGHUP and SIGXCPU remove partial output files and end the process,
/// with exit code 130, 143, 129 and 152.
void handle_interrupts();

}  // namespace fmbem::cli
