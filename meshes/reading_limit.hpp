#pragma once

#include <string>

#include <sys/resource.h>

namespace fmbem {

/// As long as it lives, the process ends by SIGXCPU when it has used that much more of the
/// processor's time. For a process of its own, such as fmbem-reader's.
class ReadingLimit {
 public:
  explicit ReadingLimit(double seconds);
  /// More than any whole file of that size takes: OpenCASCADE goes round for ever in some damaged
  /// ones.
  explicit ReadingLimit(const std::string& file);
  ~ReadingLimit();
  ReadingLimit(const ReadingLimit&) = delete;
  ReadingLimit& operator=(const ReadingLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace fmbem
