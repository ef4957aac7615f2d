#pragma once

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// The numbers 0, 1, … of things with keys: key after key, ascending within each key.
struct Grouped {
  /// Groups keys below `groups`. Throws InputError for 2³¹ keys or more.
  Grouped(const DeviceBuffer<std::int32_t>& keys, std::int64_t groups, cudaStream_t stream);
  DeviceBuffer<std::int64_t> begin;   ///< [groups + 1]
  DeviceBuffer<std::int32_t> number;  ///< of each group
};

}  // namespace fmbem::cuda::bem
