#include "fmbem/meshes/reading_limit.hpp"

#include <algorithm>
#include <filesystem>

namespace fmbem {

namespace {

double seconds_for(const std::string& file) {
  constexpr double seconds = 10, seconds_a_megabyte = 5;  // ten times what large STEP files take
  std::error_code error;
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(file, error));
  return seconds + (error ? 0 : seconds_a_megabyte * megabytes);
}

}  // namespace

ReadingLimit::ReadingLimit(double seconds) {
  getrlimit(RLIMIT_CPU, &before_);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit now = before_;
  now.rlim_cur =
      std::min(before_.rlim_cur, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                                     static_cast<rlim_t>(seconds) + 1);
  setrlimit(RLIMIT_CPU, &now);
}

ReadingLimit::ReadingLimit(const std::string& file) : ReadingLimit(seconds_for(file)) {}

ReadingLimit::~ReadingLimit() { setrlimit(RLIMIT_CPU, &before_); }

}  // namespace fmbem
