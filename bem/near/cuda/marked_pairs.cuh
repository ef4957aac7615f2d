#pragma once

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda::bem {

/// Calls integrate(place) for the places below `count` where is_marked(place), by the whole block.
/// It collects them until there is one for each thread, so that no thread is idle while others
/// integrate.
template <class IsMarked, class Integrate>
__device__ inline void for_marked(std::int64_t count, IsMarked&& is_marked, Integrate&& integrate) {
  constexpr int each = 16, looked_at = each * threads_per_block;  // at a time
  __shared__ std::int64_t s_marked[threads_per_block + looked_at];
  __shared__ int s_count;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) s_count = 0;
  __syncthreads();
  for (std::int64_t first = 0; first < count; first += looked_at) {
    const std::int64_t own = first + thread;
    bool marked[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
      const std::int64_t place = own + k * threads_per_block;
      marked[k] = place < count && is_marked(place);
    }
#pragma unroll
    for (int k = 0; k < each; ++k)
      if (marked[k]) s_marked[atomicAdd(&s_count, 1)] = own + k * threads_per_block;
    __syncthreads();
    const int found = s_count;
    const int rest = first + looked_at < count ? found % threads_per_block : 0;
    for (int m = rest + thread; m < found; m += threads_per_block) integrate(s_marked[m]);
    __syncthreads();
    if (thread == 0) s_count = rest;
    __syncthreads();
  }
}

}  // namespace fmbem::cuda::bem
