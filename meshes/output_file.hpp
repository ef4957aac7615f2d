#pragma once

#include <string>

namespace fmbem {

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

/// Unlinks every partial file. Safe to call from a signal handler.
void remove_partial_output() noexcept;

}  // namespace fmbem
