#pragma once

#include <cstdint>

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda::bem {

/// Target of the k-th of pairs that are listed target after target.
__device__ inline std::int64_t target_of(const std::int64_t* begin, std::int64_t targets,
                                         std::int64_t k) {
  std::int64_t low = 0, high = targets;  // begin[low] ≤ k < begin[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (begin[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Threads that share the close pairs of a target.
inline constexpr int close_group = 8;
/// The sum of what they have, in the first of them; by whole warps.
__device__ inline double sum_of_close(double part) {
#pragma unroll
  for (int step = close_group / 2; step > 0; step /= 2)
    part += __shfl_down_sync(whole_warp, part, step, close_group);
  return part;
}

}  // namespace fmbem::cuda::bem
