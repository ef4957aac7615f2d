#pragma once

#include <cuda_fp16.h>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/cuda/tiles.cuh"

namespace fmbem::cuda::bem {

/// Powers of two, one for each row, by which the largest of values(k, i), k < m, comes to [2^14,
/// 2^15): factor [own], and 1 / factor to `scale`.
template <class Values>
__device__ void find_scales(Values&& values, int m, int own, float* factor, float* scale) {
  const int thread = static_cast<int>(threadIdx.x), threads = block_threads();
  auto* const largest = reinterpret_cast<unsigned*>(factor);
  for (int i = thread; i < own; i += threads) largest[i] = 0;
  __syncthreads();
  for (int first = 0; first < own; first += threads) {
    const int width = min(own - first, threads), groups = threads / width,
              i = first + thread % width;
    constexpr int together = 8;  // loads are under way at a time; the last one again behind it
    float size = 0;
    for (int k = thread / width; k < m; k += together * groups) {
      float value[together];
#pragma unroll
      for (int t = 0; t < together; ++t) value[t] = values(min(k + t * groups, m - 1), i);
#pragma unroll
      for (int t = 0; t < together; ++t) size = fmaxf(size, fabsf(value[t]));
    }
    atomicMax(largest + i, __float_as_uint(size));
  }
  __syncthreads();
  for (int i = thread; i < own; i += threads) {
    const int power =
        largest[i] == 0 ? 0 : max(static_cast<int>(largest[i] >> 23) - 127 - 14, -126);
    factor[i] = ldexpf(1, -power);
    scale[i] = ldexpf(1, power);
  }
  __syncthreads();
}

struct alignas(8) HalfFour {
  __half2 first, second;
};

/// Rows [m][row_stride(own)] of values(k, i), k < m, i < own, in half precision; `factor` is room
/// for [own].
template <class Values>
__device__ void round_rows(Values&& values, int m, int own, float* factor, __half* __restrict__ out,
                           float* scale) {
  constexpr int together = 4;  // loads of so many fours are under way at a time
  const int stride = static_cast<int>(row_stride(own)), fours = stride / 4,
            thread = static_cast<int>(threadIdx.x), threads = block_threads();
  find_scales(values, m, own, factor, scale);
  for (int first = 0; first < fours; first += threads) {
    const int width = min(fours - first, threads), groups = threads / width,
              i = 4 * (first + thread % width);
    for (int k = thread / width; k < m && thread / width < groups; k += together * groups) {
      float value[together][4];
#pragma unroll
      for (int t = 0; t < together; ++t)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          value[t][r] = values(min(k + t * groups, m - 1), min(i + r, own - 1));
#pragma unroll
      for (int t = 0; t < together; ++t) {
        const auto rounded = [&](int r) { return i + r < own ? value[t][r] * factor[i + r] : 0; };
        if (k + t * groups < m)
          *reinterpret_cast<HalfFour*>(out + (k + t * groups) * stride + i) = {
              __floats2half2_rn(rounded(0), rounded(1)), __floats2half2_rn(rounded(2), rounded(3))};
      }
    }
  }
  __syncthreads();
}

/// The same; the values that rows take are of `fields` kinds in turn. What rounding leaves of an
/// entry is added to the next one of its row and kind, and what is left at last to the smallest, so
/// that sums of rows stay. Smooth potentials have much the same mean on all close nodes, whose
/// entries are far larger than their sum and much the same from leaf to leaf: errors of that sum
/// would be those of a charge on all of the surface, on close sheets a larger one than the right
/// one.
template <class Values>
__device__ void round_sums(Values&& values, int m, int own, int fields, float* factor,
                           __half* __restrict__ out, float* scale) {
  const int stride = static_cast<int>(row_stride(own));
  find_scales(values, m, own, factor, scale);
  for (int task = static_cast<int>(threadIdx.x); task < stride * fields; task += block_threads()) {
    const int i = task % stride, field = task / stride, loaded = min(i, own - 1);
    const float to_range = i < own ? factor[i] : 0;
    float left = 0, least = INFINITY;
    int smallest = field;
    // The leaf's own panels, whose entries are the largest, are last: smaller ones take what is
    // left of them.
    constexpr int together = 8;  // loads are under way at a time
    for (int last = m - fields + field; last >= 0; last -= together * fields) {
      float loads[together];
#pragma unroll
      for (int t = 0; t < together; ++t) loads[t] = values(max(last - t * fields, field), loaded);
#pragma unroll
      for (int t = 0; t < together; ++t) {
        const int k = last - t * fields;
        if (k < 0) break;
        const float value = loads[t] * to_range + left;
        const __half rounded = __float2half_rn(value);
        const float entry = __half2float(rounded);
        left = value - entry;
        out[k * stride + i] = rounded;
        if (fabsf(entry) < fabsf(least)) {
          least = entry;
          smallest = k;
        }
      }
    }
    out[smallest * stride + i] = __float2half_rn(least + left);
  }
  __syncthreads();
}

}  // namespace fmbem::cuda::bem
