#pragma once

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda {

/// Calls work(), which enqueues in a stream, so that all of it comes after what is in the default
/// stream and before what will be.
template <class Work>
void in_default_stream(const Stream& stream, Work&& work) {
  const Event before, after;
  FMBEM_CUDA(cudaEventRecord(before, nullptr));
  FMBEM_CUDA(cudaStreamWaitEvent(stream, before));
  ended_if_it_throws(work, stream);
  FMBEM_CUDA(cudaEventRecord(after, stream));
  FMBEM_CUDA(cudaStreamWaitEvent(nullptr, after));
}

}  // namespace fmbem::cuda
