#pragma once

#include <memory>
#include <vector>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::cuda {

/// Seconds of the stages that follow one another in a stream, by events between them.
class StageTimes {
 public:
  explicit StageTimes(cudaStream_t stream) : stream_(stream) {}

  /// Forgets what was recorded.
  void clear() { stages_.clear(); }
  /// What the stream does from here on belongs to the stage that is recorded next.
  void start() { record(nullptr); }
  /// Ends a stage, which must be a literal.
  void record(const char* stage) {
    if (stages_.size() == events_.size()) events_.push_back(std::make_unique<Event>(true));
    FMBEM_CUDA(cudaEventRecord(*events_[stages_.size()], stream_));
    stages_.push_back(stage);
  }
  /// Waits for the last stage.
  fmm::Seconds seconds() const {
    fmm::Seconds result;
    if (stages_.empty()) return result;
    FMBEM_CUDA(cudaEventSynchronize(*events_[stages_.size() - 1]));
    for (std::size_t k = 1; k < stages_.size(); ++k) {
      if (!stages_[k]) continue;
      float milliseconds = 0;
      FMBEM_CUDA(cudaEventElapsedTime(&milliseconds, *events_[k - 1], *events_[k]));
      result[stages_[k]] += 1e-3 * milliseconds;
    }
    return result;
  }

 private:
  cudaStream_t stream_;
  std::vector<const char*> stages_;  ///< null: a start
  std::vector<std::unique_ptr<Event>> events_;
};

}  // namespace fmbem::cuda
