#pragma once

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// The numbers 0, 1, … of what has keys, key after key and ascending within each.
struct Grouped {
  /// Of keys below `groups`. Throws InputError for 2³¹ keys or more.
  Grouped(const DeviceBuffer<std::int32_t>& keys, std::int64_t groups, cudaStream_t stream);
  DeviceBuffer<std::int64_t> begin;   ///< [groups + 1]
  DeviceBuffer<std::int32_t> number;  ///< of each group
};

}  // namespace fmbem::cuda::bem
