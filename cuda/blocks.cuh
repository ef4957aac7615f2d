#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace fmbem::cuda {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;
inline constexpr int threads_per_block = 128;
inline constexpr int warps_per_block = threads_per_block / warp_size;

/// Blocks of `per_block` that hold n.
inline unsigned blocks_for(std::int64_t n, int per_block = threads_per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

/// Number of the running thread in a grid of one dimension.
__device__ inline std::int64_t thread_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// First index in [begin, end) whose value is not below the bound.
template <class T>
__device__ inline std::int32_t lower_bound(const T* values, std::int32_t begin, std::int32_t end,
                                           T bound) {
  while (begin < end) {
    const std::int32_t middle = begin + (end - begin) / 2;
    if (values[middle] < bound)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

}  // namespace fmbem::cuda
