#pragma once

#include <vector>

#include "fmbem/cuda/memory.cuh"

namespace fmbem::test {

/// A copy of a buffer, for which the host waits.
template <class T>
std::vector<T> to_host(const cuda::DeviceBuffer<T>& from, cudaStream_t stream) {
  std::vector<T> to(from.size());
  from.download(to.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return to;
}

}  // namespace fmbem::test
