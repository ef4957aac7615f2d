#pragma once

#include "fmbem/cuda/staging.cuh"

namespace fmbem::cuda {

/// A buffer with the content of a container, copied when this returns.
template <class Container>
auto copied_to_device(const Container& from, cudaStream_t stream) {
  DeviceBuffer<typename Container::value_type> to(from.size(), stream);
  copy_to_device(from.data(), from.size(), to.data(), stream);
  return to;
}

}  // namespace fmbem::cuda
