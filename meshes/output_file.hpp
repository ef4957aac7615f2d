#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace fmbem {

/// The path that a name stands for, behind symbolic links, those to files that are not there yet
/// too, and independent of a later change of folder.
std::filesystem::path behind_links(const std::string& path, std::error_code& error);

/// A file that appears whole or not at all. What is written goes to a file beside it, which
/// commit() renames. The destructor removes it unless it was committed; so does
/// remove_partial_output().
class OutputFile {
 public:
  /// Creates the partial file. Throws InputError if that is impossible.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Where to write to; has the same extension as path().
  const std::string& partial_path() const { return partial_path_; }
  /// Renames the partial file to path(). Throws ResourceError if that fails.
  void commit();

 private:
  std::string path_, target_, partial_path_;
  int slot_ = -1;
  bool committed_ = false;
};

/// Writes a text as a file that appears whole or not at all. Throws InputError for a path that
/// cannot be written and ResourceError when the disk is full.
void write_whole(const std::string& path, const std::string& text);

/// A folder for output files, made where there is none. The destructor removes one that was made
/// and not committed, if it is empty; so does remove_partial_output().
class OutputFolder {
 public:
  /// Throws InputError where it can be neither made nor used.
  explicit OutputFolder(std::string path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& path() const { return path_; }
  /// From now on it stays.
  void commit();

 private:
  std::string path_;
  int slot_ = -1;  ///< of a folder that was made here and is not committed
};

/// While one lives, signals that would end the program wait, so that files that belong together get
/// their names together.
class HeldInterrupts {
 public:
  HeldInterrupts();
  /// Raises the last signal that has waited.
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;
};

/// For a signal handler: whether the signal has to wait, and will be raised again.
bool hold_interrupt(int signal) noexcept;

/// Removes every partial file, and then every folder that was made for some. Safe to call from a
/// signal handler.
void remove_partial_output() noexcept;

}  // namespace fmbem
