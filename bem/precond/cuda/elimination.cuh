#pragma once

#include <cstdint>

#include "fmbem/bem/precond/cuda/panel_reduction.cuh"
#include "fmbem/bem/precond/cuda/tensor_products.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {

/// Threads of a block that solves a general system, and blocks of a multiprocessor, which have 168
/// registers for each thread then.
inline constexpr int general_threads = 128, general_blocks = 3;

/// Columns of a warp's tile, and the stride of pivots' rows in it, by which eight columns and four
/// pairs of pivots are in different banks.
inline constexpr int tile_columns = 16, pivot_stride = 40;

/// Where the columns outside of a panel are.
__device__ inline int other_column(const ColumnPanel& panel, int v) {
  return v < panel.first ? v : v + panel.count;
}

/// By a warp, in columns `begin` to `end` of those outside of a panel: pivots' rows go to `right`,
/// [column][pivot], with zeros behind the last pivot, and others take their places.
template <int Columns>
__device__ __noinline__ void take_pivot_rows(SquareMatrix a, ColumnPanel panel,
                                             const PivotRows& rows, int begin, int end,
                                             float* right) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const bool is_pivot = lane < panel.count, moves = lane < rows.moves;
  const int pivot = is_pivot ? rows.pivot[lane] : 0, from = moves ? rows.from[lane] : 0,
            to = moves ? rows.to[0][lane] : 0;
  __builtin_assume(__isGlobal(a.entries));
  __builtin_assume(__isShared(right));
  float of_pivot[Columns], moved[Columns];
#pragma unroll
  for (int i = 0; i < Columns; ++i) {
    const float* const column = a.column(other_column(panel, min(begin + i, end - 1)));
    of_pivot[i] = column[pivot];
    moved[i] = column[from];
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < Columns; ++i) {
    right[i * pivot_stride + lane] = is_pivot ? of_pivot[i] : 0;
    // The last column again behind it: conditions would have one wait for another.
    float* const column = a.column(other_column(panel, min(begin + i, end - 1)));
    if (moves) column[to] = moved[i];
    if (panel.stays && is_pivot) column[panel.first + lane] = 0;
  }
  __syncwarp();
}

/// The same of what is known of each row, by the first warp.
template <class T>
__device__ inline void take_pivots_of(T* of_rows, const ColumnPanel& panel, const PivotRows& rows) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane >= warp_size) return;
  const T pivot = lane < panel.count ? of_rows[rows.pivot[lane]] : T(0),
          moved = lane < rows.moves ? of_rows[rows.from[lane]] : T(0);
  __syncwarp();
  if (lane < panel.count) of_rows[panel.first + lane] = pivot;
  if (lane < rows.moves) of_rows[rows.to[0][lane]] = moved;
}

/// By a warp, in columns `begin` to `end` of those outside of a panel: adds the products of factors
/// and pivots' rows to rows from `row` on.
template <int Columns>
__device__ __noinline__ void add_products(SquareMatrix a, ColumnPanel panel, int row, int begin,
                                          int end, const float* left, const float* right) {
  constexpr int tiles = 4;  // of eight rows
  static_assert(Columns == 16);
  __builtin_assume(__isGlobal(a.entries));
  __builtin_assume(__isShared(left));
  __builtin_assume(__isShared(right));
  const int lane = static_cast<int>(threadIdx.x) % warp_size, i = lane / 4, t = lane % 4,
            stride = shared_stride(a.size), last = (a.size - 1) / 8 * 8;
  const bool has[2] = {begin + i < end, begin + i + 8 < end};
  float* const column[2] = {a.column(other_column(panel, min(begin + i, end - 1))) + 2 * t,
                            a.column(other_column(panel, min(begin + i + 8, end - 1))) + 2 * t};
  // The last tile again behind it: what follows `left` is other warps'.
  const auto tile_at = [&](int first, int n) { return min(first + 8 * n, last); };
  float2 old[tiles][2], next[tiles][2];
  const auto load = [&](int first, float2(&entries)[tiles][2]) {
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        entries[n][h] = *reinterpret_cast<const float2*>(column[h] + tile_at(first, n));
  };
  load(row, old);
  for (; row < a.size; row += 8 * tiles) {
    load(row + 8 * tiles, next);  // under way together with the products
    float sum[tiles][4] = {};
    int from[tiles];
#pragma unroll
    for (int n = 0; n < tiles; ++n) from[n] = tile_at(row, n);
#pragma unroll 1
    for (int k = 0; k < panel.count; k += 8) {
      const auto low = *reinterpret_cast<const float2*>(right + i * pivot_stride + k + 2 * t),
                 high =
                     *reinterpret_cast<const float2*>(right + (i + 8) * pivot_stride + k + 2 * t);
      const SplitFloat r[4] = {split(low.x), split(high.x), split(low.y), split(high.y)};
      const unsigned r_high[4] = {r[0].high, r[1].high, r[2].high, r[3].high},
                     r_low[4] = {r[0].low, r[1].low, r[2].low, r[3].low};
      const float* const factors = left + (k + 2 * t) * stride + i;
      unsigned l_high[tiles][2], l_low[tiles][2];  // products of one tile wait for each other
#pragma unroll
      for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const SplitFloat l = split(factors[c * stride + from[n]]);
          l_high[n][c] = l.high;
          l_low[n][c] = l.low;
        }
#pragma unroll
      for (int n = 0; n < tiles; ++n) multiply_add(sum[n], r_low, l_high[n]);
#pragma unroll
      for (int n = 0; n < tiles; ++n) multiply_add(sum[n], r_high, l_low[n]);
#pragma unroll
      for (int n = 0; n < tiles; ++n) multiply_add(sum[n], r_high, l_high[n]);
    }
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if (has[h] && row + 8 * n + 2 * t < a.size)
          *reinterpret_cast<float2*>(column[h] + row + 8 * n) = {old[n][h].x + sum[n][2 * h],
                                                                 old[n][h].y + sum[n][2 * h + 1]};
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h) old[n][h] = next[n][h];
  }
}

/// Floats of shared memory that eliminate() works in.
constexpr std::int64_t elimination_floats(int size) {
  return columns_together(size) * shared_stride(size) +
         general_threads / warp_size * tile_columns * pivot_stride + size;
}

inline void require_eliminable(std::int64_t unknowns) {
  FMBEM_REQUIRE(unknowns <= most_eliminated, "a system of the preconditioner has "
                                                 << unknowns << " unknowns, at most "
                                                 << most_eliminated << " can be on the GPU");
}

/// scale = 1 / the largest entry of each row, by a block.
__device__ inline void find_row_scales(const SquareMatrix& a, float* scale) {
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size;
  auto* const largest = reinterpret_cast<unsigned*>(scale);
  for (int row = thread; row < a.size; row += general_threads) largest[row] = 0;
  __syncthreads();
  for (int row = 4 * (thread % warp_size); row < a.size; row += 4 * warp_size) {
    float4 of_rows{0, 0, 0, 0};
#pragma unroll 8
    for (int c = warp; c < a.size; c += general_threads / warp_size) {
      const float4 entry = *reinterpret_cast<const float4*>(a.column(c) + row);
      of_rows = {fmaxf(of_rows.x, fabsf(entry.x)), fmaxf(of_rows.y, fabsf(entry.y)),
                 fmaxf(of_rows.z, fabsf(entry.z)), fmaxf(of_rows.w, fabsf(entry.w))};
    }
    const float sizes[4] = {of_rows.x, of_rows.y, of_rows.z, of_rows.w};
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if (row + r < a.size) atomicMax(largest + row + r, __float_as_uint(sizes[r]));
  }
  __syncthreads();
  for (int row = thread; row < a.size; row += general_threads)
    scale[row] = largest[row] > 0 ? 1 / __uint_as_float(largest[row]) : 0;
}

/// The last `own` rows of the inverse of A, which is in device memory, in place of those of A: the
/// factor of equation e, a row of A, is in column column_of[e]. By a block of general_threads;
/// false if A is singular. `room` is in shared memory.
///
/// Gauss' elimination with partial pivoting of scaled rows, columns_together() columns at a time,
/// whose pivots' rows are not needed any more, and Jordan's for the last columns, whose are.
/// Factors of the pivots' rows take the place of zeros, so that there are no right-hand sides.
__device__ inline bool eliminate(const SquareMatrix& a, int own, std::int32_t* column_of,
                                 float* room) {
  __shared__ PivotRows s_rows;
  constexpr int threads = general_threads, warps = threads / warp_size;
  static_assert(threads >= panel_threads);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size,
            width = columns_together(a.size), passing = (a.size - own) / width * width;
  float *const left = room, *const rights = room + width * shared_stride(a.size),
               *const right = rights + warp * tile_columns * pivot_stride,
               *const scale = rights + warps * tile_columns * pivot_stride;
  std::int32_t* const equation = column_of;  // at each row, until all have their columns
  for (int k = thread; k < a.size; k += threads) equation[k] = k;
  find_row_scales(a, scale);
  __syncthreads();
  for (int first = 0; first < a.size; first += width) {
    const bool stays = first >= passing;
    const ColumnPanel panel{stays ? passing : first, first, min(width, a.size - first), stays};
    const int rows = a.size - panel.top;
    if (width == 32 && rows > 2 * warp_size && rows <= panel_threads)
      reduce_panel<1, 32>(a, panel, scale, left, s_rows);
    else if (width == 32 && rows <= 2 * panel_threads)
      reduce_panel<2, 32>(a, panel, scale, left, s_rows);
    else if (width == 32)
      reduce_panel<3, 32>(a, panel, scale, left, s_rows);
    else if (width == 16)
      reduce_panel<6, 16>(a, panel, scale, left, s_rows);
    else
      reduce_panel<12, 8>(a, panel, scale, left, s_rows);
    if (s_rows.moves < 0) return false;
    take_pivots_of(equation, panel, s_rows);
    take_pivots_of(scale, panel, s_rows);
    const int others = a.size - panel.count;
    for (int begin = warp * tile_columns; begin < others; begin += warps * tile_columns) {
      const int end = min(begin + tile_columns, others);
      take_pivot_rows<tile_columns>(a, panel, s_rows, begin, end, right);
      add_products<tile_columns>(a, panel, panel.needed(), begin, end, left, right);
      __syncwarp();
    }
    __syncthreads();
  }
  auto* const at_column = reinterpret_cast<std::int32_t*>(room);
  for (int c = thread; c < a.size; c += threads) at_column[c] = equation[c];
  __syncthreads();
  for (int c = thread; c < a.size; c += threads) column_of[at_column[c]] = c;
  __syncthreads();
  return true;
}

}  // namespace fmbem::cuda::bem
