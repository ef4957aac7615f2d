#pragma once

#include <cuda_fp16.h>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/cuda/tiles.cuh"

namespace fmbem::cuda::bem {

/// Rows [m][row_stride(own)] in half precision, with a power of two for each; `largest` is room for
/// [own].
__device__ inline void round_rows(const float* rows, int m, int own, unsigned* largest,
                                  __half* __restrict__ out, float* scale) {
  const int thread = static_cast<int>(threadIdx.x), stride = static_cast<int>(row_stride(own));
  for (int i = thread; i < own; i += solve_threads) largest[i] = 0;
  __syncthreads();
  for (int first = 0; first < own; first += solve_threads) {
    const int width = min(own - first, solve_threads), i = first + thread % width;
    float size = 0;
#pragma unroll 4
    for (int k = thread / width; k < m; k += solve_threads / width)
      size = fmaxf(size, fabsf(rows[k * stride + i]));
    atomicMax(largest + i, __float_as_uint(size));
  }
  __syncthreads();
  constexpr int largest_power = 14;
  const auto power_of = [&](int i) {
    return i >= own || largest[i] == 0 ? 0
                                       : static_cast<int>(largest[i] >> 23) - 127 - largest_power;
  };
  for (int i = thread; i < own; i += solve_threads) scale[i] = ldexpf(1, power_of(i));
  const auto* const quads = reinterpret_cast<const float4*>(rows);
  auto* const out_quads = reinterpret_cast<__half2*>(out);
#pragma unroll 2
  for (int q = thread; q < m * stride / 4; q += solve_threads) {
    const float4 v = quads[q];
    const int i = 4 * q % stride;
    const auto rounded = [&](float value, int c) { return ldexpf(value, -power_of(i + c)); };
    out_quads[2 * q] = __floats2half2_rn(rounded(v.x, 0), rounded(v.y, 1));
    out_quads[2 * q + 1] = __floats2half2_rn(rounded(v.z, 2), rounded(v.w, 3));
  }
  __syncthreads();
}

}  // namespace fmbem::cuda::bem
