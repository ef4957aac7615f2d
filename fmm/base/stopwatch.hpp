#pragma once

#include <chrono>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// Adds the time since it was made, or since the last add(), to a stage.
class Stopwatch {
 public:
  explicit Stopwatch(Seconds& seconds) : seconds_(seconds) {}
  void add(const char* stage) {
    const auto now = Clock::now();
    seconds_[stage] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  /// Leaves out the time since it was made or since the last add().
  void restart() { last_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Seconds& seconds_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace fmbem::fmm
