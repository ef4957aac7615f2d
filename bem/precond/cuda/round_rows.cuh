#pragma once

#include <cuda_fp16.h>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/cuda/tiles.cuh"

namespace fmbem::cuda::bem {

/// Rows [m][row_stride(own)] in half precision, with a power of two for each, from values(k, i), k
/// < m, i < own; `largest` is room for [own]. The values that rows take are of `fields` kinds in
/// turn.
///
/// What rounding leaves of an entry is added to the next one of its row and kind, and what is left
/// at last to the smallest, so that sums of rows stay. Smooth potentials have much the same mean on
/// all close nodes, whose entries are far larger than their sum and much the same from leaf to
/// leaf: errors of that sum would be those of a charge on all of the surface, on close sheets a
/// larger one than the right one.
template <class Values>
__device__ void round_rows(Values&& values, int m, int own, unsigned* largest,
                           __half* __restrict__ out, float* scale, int fields = 1) {
  const int thread = static_cast<int>(threadIdx.x), threads = block_threads(),
            stride = static_cast<int>(row_stride(own));
  for (int i = thread; i < own; i += threads) largest[i] = 0;
  __syncthreads();
  for (int first = 0; first < own; first += threads) {
    const int width = min(own - first, threads), i = first + thread % width;
    float size = 0;
#pragma unroll 4
    for (int k = thread / width; k < m; k += threads / width)
      size = fmaxf(size, fabsf(values(k, i)));
    atomicMax(largest + i, __float_as_uint(size));
  }
  __syncthreads();
  constexpr int largest_power = 14;
  for (int task = thread; task < stride * fields; task += threads) {
    const int i = task % stride, field = task / stride;
    const int power =
        i >= own || largest[i] == 0 ? 0 : static_cast<int>(largest[i] >> 23) - 127 - largest_power;
    const float to_range = ldexpf(1, -power);
    if (field == 0 && i < own) scale[i] = ldexpf(1, power);
    float left = 0, least = INFINITY;
    int smallest = field;
    // The leaf's own panels, whose entries are the largest, are last: smaller ones take what is
    // left of them.
#pragma unroll 4
    for (int k = m - fields + field; k >= 0; k -= fields) {
      const float value = (i < own ? values(k, i) * to_range : 0) + left;
      const __half rounded = __float2half_rn(value);
      const float entry = __half2float(rounded);
      left = value - entry;
      out[k * stride + i] = rounded;
      if (fabsf(entry) < fabsf(least)) {
        least = entry;
        smallest = k;
      }
    }
    out[smallest * stride + i] = __float2half_rn(least + left);
  }
  __syncthreads();
}

}  // namespace fmbem::cuda::bem
