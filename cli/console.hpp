#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

namespace fmbem::cli {

/// Where the program's words go: results to standard output, all else to standard error. After
/// reserve_stdout() whatever is printed to standard output, by any library, goes to standard error,
/// and only write_stdout() still reaches standard output.
/// Colours are for terminals, unless NO_COLOR is set (no-color.org).
class Console {
 public:
  void reserve_stdout();
  /// Throws ResourceError if the reader is gone or the disk is full.
  void write_stdout(const std::string& text);
  /// The same for what has been printed: that goes on, so that files are written all the same.
  void require_printed() const;

  /// From now on what is for standard output goes there, and print() prints nothing; null ends it.
  void capture(std::string* into) { captured_ = into; }

  void set_quiet(bool quiet) { quiet_ = quiet; }
  bool quiet() const { return quiet_; }

  /// What was done and how; nothing when quiet. Lines are broken at the width.
  void print(const std::string& text);
  /// What was asked for, set off by an empty line from what was before; all that there is when
  /// quiet.
  void print_result(const std::string& text);
  /// That a file was written; an empty line before the first.
  void print_wrote(const std::string& file);
  /// "fmbem: notice: …" on standard error; nothing when quiet.
  void notice(const std::string& sentence);
  /// "fmbem: warning: …" on standard error.
  void warning(const std::string& sentence);
  /// "fmbem: …" on standard error.
  void error(const std::string& sentence);

  /// Says on a terminal what is about to be done, until something else is said or printed.
  void begin_phase(const std::string& what);
  /// Adds to that how far it is, with the time that is left by the fraction that is done; at most
  /// ten times a second, and only once the phase has taken longer than two seconds.
  void progress(const std::string& how_far, double fraction);
  void clear_progress();

 private:
  using Clock = std::chrono::steady_clock;
  void write_line(const std::string& text);
  void say(const char* kind, const char* colour, const std::string& sentence);
  void show(const std::string& line);
  int saved_stdout_ = -1;
  std::string* captured_ = nullptr;
  bool quiet_ = false, line_shown_ = false, has_printed_ = false, has_written_ = false;
  std::string phase_, print_error_;
  Clock::time_point phase_start_ = Clock::now(), last_shown_{};
};

}  // namespace fmbem::cli
