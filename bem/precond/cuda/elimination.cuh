#pragma once

#include <climits>

#include "fmbem/bem/precond/cuda/tiles.cuh"

namespace fmbem::cuda::bem {

/// A system B X = E by columns, those of E behind those of B.
struct Augmented {
  float* entries;
  int unknowns, right_sides;

  static constexpr int stride(int unknowns) { return unknowns | 1; }  ///< odd, for shared memory
  static constexpr std::int64_t size(int unknowns, int right_sides) {
    return static_cast<std::int64_t>(stride(unknowns)) * (unknowns + right_sides);
  }
  __device__ float& at(int row, int column) const {
    return entries[static_cast<std::int64_t>(column) * stride(unknowns) + row];
  }
  __device__ int columns() const { return unknowns + right_sides; }
};

/// Columns that are eliminated at a time.
inline constexpr int together = 8;
inline constexpr int solve_warps = solve_threads / warp_size;

/// A row and the size of its entry in some column, as bits, which are in the order of sizes.
struct Pivot {
  unsigned size = 0;
  int row = INT_MAX;

  /// The larger one, the first of equal ones.
  __device__ void take(const Pivot& other) {
    if (other.size > size || (other.size == size && other.row < row)) *this = other;
  }
  __device__ void take(float entry, int of_row) { take({__float_as_uint(fabsf(entry)), of_row}); }
};

/// The best of all threads' pivots, in all of them. Calls have to be counted by `turn`: the next
/// one may begin before all threads have left this one.
__device__ inline Pivot best_pivot(Pivot own, int turn) {
  __shared__ Pivot s_best[2][solve_warps];
  for (int step = warp_size / 2; step > 0; step /= 2)
    own.take(
        {__shfl_xor_sync(whole_warp, own.size, step), __shfl_xor_sync(whole_warp, own.row, step)});
  Pivot* const best = s_best[turn % 2];
  if (threadIdx.x % warp_size == 0) best[threadIdx.x / warp_size] = own;
  __syncthreads();
  own = best[0];
  for (int warp = 1; warp < solve_warps; ++warp) own.take(best[warp]);
  return own;
}

/// Gauss' elimination with partial pivoting of `count` columns from `first` on, within these, by a
/// block; L takes the place of zeros. False if B is singular.
__device__ inline bool factor_columns(const Augmented& b, int first, int count, int* pivots) {
  const int thread = static_cast<int>(threadIdx.x);
  Pivot own;
  for (int row = first + thread; row < b.unknowns; row += solve_threads)
    own.take(b.at(row, first), row);
  for (int k = 0; k < count; ++k) {
    const int j = first + k;
    const Pivot best = best_pivot(own, k);
    if (!(__uint_as_float(best.size) > 0)) return false;
    if (best.row != j) {
      if (thread < count) {
        const float swapped = b.at(j, first + thread);
        b.at(j, first + thread) = b.at(best.row, first + thread);
        b.at(best.row, first + thread) = swapped;
      }
      __syncthreads();
    }
    if (thread == 0) pivots[k] = best.row;
    const float diagonal = b.at(j, j);
    own = {};
    for (int row = first + thread; row < b.unknowns; row += solve_threads) {
      if (row <= j) continue;
      // All is read first: the compiler cannot know that none is read after another is written.
      float pivot_row[together], own_row[together];
#pragma unroll
      for (int c = 1; c < together; ++c) {
        const int column = first + min(c, count - 1);
        pivot_row[c] = b.at(j, column);
        own_row[c] = b.at(row, column);
      }
      const float factor = b.at(row, j) / diagonal;
      b.at(row, j) = factor;
#pragma unroll
      for (int c = 1; c < together; ++c) {
        if (c <= k || c >= count) continue;
        const float entry = own_row[c] - factor * pivot_row[c];
        b.at(row, first + c) = entry;
        if (c == k + 1) own.take(entry, row);
      }
    }
  }
  __syncthreads();
  return true;
}

/// Subtracts from rows [row, end_row) of columns [column, end_column), at most `together`, those
/// times the `count` rows and columns from `first` on, by a warp: each lane has Rows rows.
template <int Rows>
__device__ inline void subtract_products(const Augmented& b, int row, int end_row, int first,
                                         int count, int column, int end_column) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const auto own_row = [&](int i) { return min(row + lane + i * warp_size, end_row - 1); };
  const auto own_column = [&](int c) { return min(column + c, end_column - 1); };
  float sum[Rows][together];
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int c = 0; c < together; ++c) sum[i][c] = b.at(own_row(i), own_column(c));
  for (int k = first; k < first + count; ++k) {
    float left[Rows], right[together];
#pragma unroll
    for (int i = 0; i < Rows; ++i) left[i] = b.at(own_row(i), k);
#pragma unroll
    for (int c = 0; c < together; ++c) right[c] = b.at(k, own_column(c));
#pragma unroll
    for (int i = 0; i < Rows; ++i)
#pragma unroll
      for (int c = 0; c < together; ++c) sum[i][c] -= left[i] * right[c];
  }
  __syncwarp();  // the last row and column may be read by several lanes
#pragma unroll
  for (int i = 0; i < Rows; ++i)
#pragma unroll
    for (int c = 0; c < together; ++c)
      if (row + lane + i * warp_size < end_row && column + c < end_column)
        b.at(row + lane + i * warp_size, column + c) = sum[i][c];
}

/// The same of any number of rows.
__device__ inline void subtract_from_rows(const Augmented& b, int row, int end_row, int first,
                                          int count, int column, int end_column) {
  constexpr int most = 4;
  for (; end_row - row > 2 * warp_size; row += most * warp_size)
    subtract_products<most>(b, row, end_row, first, count, column, end_column);
  if (end_row - row > warp_size)
    subtract_products<2>(b, row, end_row, first, count, column, end_column);
  else if (end_row > row)
    subtract_products<1>(b, row, end_row, first, count, column, end_column);
}

/// Does to columns [begin, end), at most 32 of them, what was done to those from `first` on, by a
/// warp: a lane has a column.
__device__ inline void follow_columns(const Augmented& b, int first, int count, const int* pivots,
                                      int begin, int end) {
  const int column = begin + static_cast<int>(threadIdx.x) % warp_size;
  bool is_zero = true;
  if (column < end) {
    for (int k = 0; k < count; ++k) {
      if (pivots[k] == first + k) continue;
      const float swapped = b.at(first + k, column);
      b.at(first + k, column) = b.at(pivots[k], column);
      b.at(pivots[k], column) = swapped;
    }
    float u[together];
#pragma unroll
    for (int k = 0; k < together; ++k) u[k] = k < count ? b.at(first + k, column) : 0.f;
#pragma unroll
    for (int k = 0; k < together; ++k) {
      is_zero = is_zero && u[k] == 0;
#pragma unroll
      for (int i = k + 1; i < together; ++i)
        if (i < count) u[i] -= b.at(first + i, first + k) * u[k];
    }
#pragma unroll
    for (int k = 0; k < together; ++k)
      if (k < count) b.at(first + k, column) = u[k];
  }
  const unsigned nonzero = __ballot_sync(whole_warp, !is_zero);
  __syncwarp();
  // Right-hand sides are zero until the elimination comes to their unknowns.
  for (int c = begin; c < end; c += together)
    if (nonzero >> (c - begin) & ((1u << together) - 1))
      subtract_from_rows(b, first + count, b.unknowns, first, count, c, min(c + together, end));
}

/// Gauss' elimination with partial pivoting by a block, which leaves U and, behind it, U X. False
/// if B is singular.
__device__ inline bool eliminate(const Augmented& b) {
  __shared__ int s_pivots[together];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  for (int first = 0; first < b.unknowns; first += together) {
    const int count = min(together, b.unknowns - first), behind = first + count;
    if (!factor_columns(b, first, count, s_pivots)) return false;
    // The others are shared out among warps in pieces of `together`.
    const int pieces = (b.columns() - behind + together - 1) / together,
              each = min((pieces + solve_warps - 1) / solve_warps * together, warp_size);
    for (int begin = behind + warp * each; begin < b.columns(); begin += solve_warps * each)
      follow_columns(b, first, count, s_pivots, begin, min(begin + each, b.columns()));
    __syncthreads();
  }
  return true;
}

/// Calls write(column, row, value) for the entries of X, after eliminate().
template <class Write>
__device__ void write_solution(const Augmented& b, Write&& write) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warp_size, warp = thread / warp_size;
  // A warp for some right-hand sides: it substitutes backwards, from the last unknowns on.
  for (int begin = b.unknowns + together * warp; begin < b.columns();
       begin += together * solve_warps) {
    const int end = min(begin + together, b.columns()), column = begin + lane;
    for (int first = (b.unknowns - 1) / together * together; first >= 0; first -= together) {
      const int count = min(together, b.unknowns - first);
      if (column < end) {
        float x[together];
#pragma unroll
        for (int k = 0; k < together; ++k) x[k] = k < count ? b.at(first + k, column) : 0.f;
#pragma unroll
        for (int k = together - 1; k >= 0; --k) {
          if (k >= count) continue;
          x[k] /= b.at(first + k, first + k);
#pragma unroll
          for (int i = 0; i < k; ++i) x[i] -= b.at(first + i, first + k) * x[k];
        }
#pragma unroll
        for (int k = 0; k < together; ++k)
          if (k < count) b.at(first + k, column) = x[k];
      }
      __syncwarp();
      subtract_from_rows(b, 0, first, first, count, begin, end);
      __syncwarp();
    }
  }
  __syncthreads();
  for (int row = warp; row < b.unknowns; row += solve_warps)
    for (int column = lane; column < b.right_sides; column += warp_size)
      write(column, row, b.at(row, b.unknowns + column));
}

}  // namespace fmbem::cuda::bem
