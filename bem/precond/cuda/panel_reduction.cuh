#pragma once

#include <cstdint>

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda::bem {

/// Threads that reduce a panel, at most; a block may have more.
inline constexpr int panel_threads = 128;
inline constexpr int panel_warps = panel_threads / warp_size;

/// Columns that are eliminated at a time: 96 registers of a thread hold its rows of them.
__host__ __device__ constexpr int columns_together(int size) {
  return size <= 3 * panel_threads ? 32 : size <= 6 * panel_threads ? 16 : 8;
}
/// Unknowns of a system, at most.
inline constexpr int most_eliminated = 12 * panel_threads;

/// A square matrix by columns.
struct SquareMatrix {
  float* entries;
  int size;

  /// Columns begin where sectors of the memory do, and so do tiles of eight rows.
  __host__ __device__ static constexpr int stride(int size) { return (size + 7) / 8 * 8; }
  static constexpr std::int64_t bytes(int size) {
    return static_cast<std::int64_t>(stride(size)) * size * sizeof(float);
  }
  __device__ float* column(int c) const {
    return entries + static_cast<std::int64_t>(c) * stride(size);
  }
  __device__ float& at(int row, int c) const { return column(c)[row]; }
};

/// From one column to the next in shared memory: an odd number of fours, so that rows of a tile are
/// in different banks.
__host__ __device__ constexpr int shared_stride(int size) { return SquareMatrix::stride(size) + 4; }

/// Some neighbouring columns that are eliminated together: of rows from `top` on. Where the rows of
/// their pivots stay (Jordan's elimination), these take the places of rows from `first` on.
struct ColumnPanel {
  int top, first, count;
  bool stays;

  /// Rows from here on are needed when its columns are eliminated: a multiple of four.
  __device__ int needed() const { return stays ? top : first + count; }
};

/// Which rows become pivots, and which rows take the places of those; and what warps tell each
/// other while these are found.
struct PivotRows {
  int pivot[warp_size], from[warp_size];
  int to[panel_warps][warp_size];  ///< the same for each warp that works
  int moves;                       ///< −1: all that is left is zero
  float4 candidate[2][panel_warps][warp_size / 4];
  uint4 keys[2];
};

/// The size of an entry with, in the lowest bits, who has it.
inline constexpr unsigned pivot_id_bits = 0x7ff;
__device__ inline unsigned pivot_key(float entry, int id) {
  return (__float_as_uint(fabsf(entry)) & ~pivot_id_bits) | static_cast<unsigned>(id);
}

/// By a block: eliminates the columns of a panel, in registers. An entry becomes the factor of the
/// pivot's row as it was before, which is to be added to its own row; it also stays in `left`, by
/// columns of shared_stride(), with zeros up to Width of them. Pivots are the largest entries
/// of their columns times the scale of their rows, to 2^-12. A function of its own has all
/// registers.
template <int Rows, int Width>
__device__ __noinline__ void reduce_panel(SquareMatrix a, ColumnPanel panel, const float* scale,
                                          float* left, PivotRows& rows) {
  __builtin_assume(__isGlobal(a.entries));
  __builtin_assume(__isShared(scale));
  __builtin_assume(__isShared(left));
  __builtin_assume(__isShared(&rows));
  static_assert(panel_warps == 4 && Width <= warp_size &&
                Rows * panel_threads <= pivot_id_bits + 1);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size,
            lane = thread % warp_size, stride = shared_stride(a.size),
            active = a.size - panel.top <= Rows * warp_size ? warp_size : panel_threads;
  const auto row_of = [&](int r) { return panel.top + r * active + thread; };
  float entry[Rows][Width];
  float of_row[Rows];
  int step[Rows];  // in which a row became the pivot's, −1: in none yet, −2: no candidate
  if (thread < 2) rows.keys[thread] = {};
  __syncthreads();
  if (thread < active) {
    unsigned own[Rows], key = 0;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      // What is loaded does not depend on conditions, so that all loads are under way together.
      const int row = row_of(r), loaded = min(row, a.size - 1);
#pragma unroll
      for (int c = 0; c < Width; ++c)
        entry[r][c] = a.column(panel.first + min(c, panel.count - 1))[loaded];
      of_row[r] = scale[loaded];
      step[r] = row >= panel.first && row < a.size ? -1 : -2;
    }
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
#pragma unroll
      for (int c = 0; c < Width; ++c)
        if (row_of(r) >= a.size || c >= panel.count) entry[r][c] = 0;
      own[r] = step[r] == -1 ? pivot_key(of_row[r] * entry[r][0], r * panel_threads + thread) : 0;
      key = max(key, own[r]);
    }
    unsigned of_warp = __reduce_max_sync(whole_warp, key);
    bool regular = true;
    int pivot = panel.first;  // a lane has the row of its step
#pragma unroll 1
    for (int k = 0; k < panel.count; ++k) {
      const int turn = k % 2;
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        if (own[r] != of_warp || of_warp == 0) continue;
#pragma unroll
        for (int c = 0; c < Width; c += 4)
          rows.candidate[turn][warp][c / 4] =
              make_float4(entry[r][c], entry[r][c + 1], entry[r][c + 2], entry[r][c + 3]);
      }
      if (lane == 0) reinterpret_cast<unsigned*>(rows.keys + turn)[warp] = of_warp;
      if (active == warp_size)
        __syncwarp();
      else
        __syncthreads();
      const uint4 keys = rows.keys[turn];
      const unsigned best = max(max(keys.x, keys.y), max(keys.z, keys.w));
      regular = best > pivot_id_bits && best < 0x7f800000u;  // not zero, and a number
      if (!regular) break;
      const int id = static_cast<int>(best & pivot_id_bits), owner = id % panel_threads,
                pivot_row = panel.top + id / panel_threads * active + owner;
      const float4* const of_pivot = rows.candidate[turn][owner / warp_size];
      float4 four = of_pivot[0];
      const float inverse = __fdividef(1, four.x);
      float factor[Rows];
      key = 0;
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        // To rounding, so that of equal rows nothing is left.
        factor[r] = entry[r][0] * inverse;
        factor[r] += (entry[r][0] - factor[r] * four.x) * inverse;
        if (id == r * panel_threads + thread) step[r] = k;
        entry[r][0] = entry[r][1] - factor[r] * four.y;
        own[r] = step[r] == -1 ? pivot_key(of_row[r] * entry[r][0], r * panel_threads + thread) : 0;
        key = max(key, own[r]);
      }
      of_warp = __reduce_max_sync(whole_warp, key);  // of the next column, while this one goes on
#pragma unroll
      for (int c = 0; c < Width; c += 4) {
        const float4 next = of_pivot[c + 4 < Width ? c / 4 + 1 : 0];
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
          entry[r][c + 1] = entry[r][c + 2] - factor[r] * four.z;
          entry[r][c + 2] = entry[r][c + 3] - factor[r] * four.w;
          if (c + 4 < Width) {
            entry[r][c + 3] = entry[r][c + 4] - factor[r] * next.x;
            entry[r][c + 4] = entry[r][c + 5] - factor[r] * next.y;
          } else {
            entry[r][c + 3] = -factor[r];
          }
        }
        four = next;
      }
      if (panel.stays) {
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
          if (id != r * panel_threads + thread) continue;
          const auto* const values = reinterpret_cast<const float*>(of_pivot);
#pragma unroll
          for (int c = 0; c + 1 < Width; ++c) entry[r][c] = values[c + 1] * inverse;
          entry[r][Width - 1] = inverse;
        }
      }
      if (lane == k) pivot = pivot_row;
    }
    // Rows of the panel's own places that are no pivots go to where pivots were that come to them.
    const bool is_outside = pivot - panel.first >= panel.count;
    const unsigned outside = __ballot_sync(whole_warp, is_outside),
                   chosen = __reduce_or_sync(whole_warp, lane < panel.count && !is_outside
                                                             ? 1u << (pivot - panel.first)
                                                             : 0u);
    if (is_outside) rows.to[warp][bits_below(outside, lane)] = pivot;
    if (warp == 0) rows.pivot[lane] = pivot;
    if (thread == 0) rows.moves = regular ? __popc(outside) : -1;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      const int row = row_of(r);
      int to = row;
      if (!regular) {
        to = -1;
      } else if (step[r] >= 0) {
        to = panel.stays ? panel.first + step[r] : -1;
      } else if (row >= panel.first && row - panel.first < panel.count) {
        const int rank = bits_below(~chosen, row - panel.first);
        to = rows.to[warp][rank];
        rows.from[rank] = row;
      }
      if (to < 0 || row >= a.size) continue;
      // Columns behind the panel's last one, which are zero, have come to the front.
      float* const in_left = left + to;
#pragma unroll
      for (int c = 0; c < Width; ++c) in_left[(c + panel.count) % Width * stride] = entry[r][c];
    }
  }
  __syncthreads();
  if (rows.moves < 0) return;
  for (int c = warp; c < panel.count; c += static_cast<int>(blockDim.x) / warp_size)
    for (int row = panel.needed() + 4 * lane; row < a.size; row += 4 * warp_size)
      *reinterpret_cast<float4*>(a.column(panel.first + c) + row) =
          *reinterpret_cast<const float4*>(left + c * stride + row);
}

}  // namespace fmbem::cuda::bem
