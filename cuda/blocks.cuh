#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "fmbem/fmm/base/lower_bound.hpp"

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

/// Numbers the things that the lanes of a warp have, lane after lane. To be called by whole warps.
class WarpCounts {
 public:
  __device__ explicit WarpCounts(int own) : own_(own), up_to_(own) {
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
      const int other = __shfl_up_sync(whole_warp, up_to_, step);
      if (lane >= step) up_to_ += other;
    }
    all_ = __shfl_sync(whole_warp, up_to_, warp_size - 1);
  }
  __device__ int before() const { return up_to_ - own_; }
  __device__ int all() const { return all_; }
  /// The lane that has the k-th thing, k < all(); k may differ from lane to lane.
  __device__ int lane_of(int k) const {
    int lane = 0;
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2)
      if (__shfl_sync(whole_warp, up_to_, lane + step - 1) <= k) lane += step;
    return lane;
  }

 private:
  int own_, up_to_, all_;
};

/// Over the lanes, for all of them.
__device__ inline int sum_of_warp(int x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_add_sync(whole_warp, x);
#else
  for (int step = 1; step < warp_size; step *= 2) x += __shfl_xor_sync(whole_warp, x, step);
  return x;
#endif
}

/// Over the threads of a block of threads_per_block, for all of them, which call it together.
__device__ inline double sum_of_block(double x) {
  __shared__ double s_part[warps_per_block];
  for (int step = 1; step < warp_size; step *= 2) x += __shfl_xor_sync(whole_warp, x, step);
  __syncthreads();  // parts of the last call have been read
  if (threadIdx.x % warp_size == 0) s_part[threadIdx.x / warp_size] = x;
  __syncthreads();
  double sum = 0;
  for (const double part : s_part) sum += part;
  return sum;
}

/// How many lanes before this one have their bit in a ballot.
__device__ inline int bits_below(unsigned lanes, int lane) {
  return __popc(lanes & ((1u << lane) - 1));
}

}  // namespace fmbem::cuda
