#pragma once

#include <string>

#include <sys/resource.h>

namespace fmbem {

/// While this lives, the process ends by SIGXCPU when it has used this much more of the processor's
/// time. For a process of its own, such as fmbem-reader's.
class ReadingLimit {
 public:
  explicit ReadingLimit(double seconds);
  /// More than any undamaged file of that size takes: on some damaged ones OpenCASCADE never ends.
  explicit ReadingLimit(const std::string& file);
  ~ReadingLimit();
  ReadingLimit(const ReadingLimit&) = delete;
  ReadingLimit& operator=(const ReadingLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace fmbem
