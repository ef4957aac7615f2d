#include "fmbem/meshes/reading_limit.hpp"

#include <algorithm>
#include <filesystem>

namespace fmbem {

ReadingLimit::ReadingLimit(const std::string& file) {
  constexpr double seconds = 10, seconds_a_megabyte = 5;  // ten times what large STEP files take
  getrlimit(RLIMIT_CPU, &before_);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::error_code error;
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(file, error));
  const double limit = seconds + (error ? 0 : seconds_a_megabyte * megabytes);
  rlimit now = before_;
  now.rlim_cur =
      std::min(before_.rlim_cur, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                                     static_cast<rlim_t>(limit) + 1);
  setrlimit(RLIMIT_CPU, &now);
}

ReadingLimit::~ReadingLimit() { setrlimit(RLIMIT_CPU, &before_); }

}  // namespace fmbem
