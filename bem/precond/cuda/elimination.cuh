#pragma once

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

/// The row from j on with the largest entry of column j, the first of such rows, in all lanes. To
/// be called by one warp.
__device__ inline int find_pivot(const Augmented& b, int j) {
  float largest = -1;
  int at = j;
  for (int row = j + static_cast<int>(threadIdx.x) % warp_size; row < b.unknowns;
       row += warp_size) {
    const float size = fabsf(b.at(row, j));
    if (size > largest) {
      largest = size;
      at = row;
    }
  }
  for (int step = warp_size / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(whole_warp, largest, step);
    const int other_at = __shfl_xor_sync(whole_warp, at, step);
    if (other > largest || (other == largest && other_at < at)) {
      largest = other;
      at = other_at;
    }
  }
  return at;
}

/// Gauss' elimination with partial pivoting by a block, which leaves U and, behind it, U X. False
/// if B is singular.
__device__ inline bool eliminate(const Augmented& b) {
  __shared__ int s_pivot;
  constexpr int warps = solve_threads / warp_size, at_once = 4;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warp_size, warp = thread / warp_size;
  for (int j = 0; j < b.unknowns; ++j) {
    if (warp == 0) {
      const int pivot = find_pivot(b, j);
      if (lane == 0) s_pivot = pivot;
    }
    __syncthreads();
    const int pivot = s_pivot;
    if (pivot != j) {
      for (int column = j + thread; column < b.columns(); column += solve_threads) {
        const float swapped = b.at(j, column);
        b.at(j, column) = b.at(pivot, column);
        b.at(pivot, column) = swapped;
      }
      __syncthreads();
    }
    const float diagonal = b.at(j, j);
    if (!(fabsf(diagonal) > 0)) return false;
    for (int row = j + 1 + lane; row < b.unknowns; row += warp_size) {
      const float factor = b.at(row, j) / diagonal;
      // A few entries at a time: the compiler cannot know that none is read after another is
      // written.
      for (int first = j + 1 + warp; first < b.columns(); first += at_once * warps) {
        float pivot_row[at_once], own_row[at_once];
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          const int column = min(first + k * warps, b.columns() - 1);
          pivot_row[k] = b.at(j, column);
          own_row[k] = b.at(row, column);
        }
#pragma unroll
        for (int k = 0; k < at_once; ++k)
          if (first + k * warps < b.columns())
            b.at(row, first + k * warps) = own_row[k] - factor * pivot_row[k];
      }
    }
    __syncthreads();
  }
  return true;
}

/// Calls write(column, row, value) for the entries of X, after eliminate().
template <class Write>
__device__ void write_solution(const Augmented& b, Write&& write) {
  constexpr int warps = solve_threads / warp_size;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % warp_size, warp = thread / warp_size;
  // A warp for each right-hand side: it substitutes backwards, from the last unknown on.
  for (int j = b.unknowns - 1; j > 0; --j) {
    const float diagonal = b.at(j, j);
    for (int column = b.unknowns + warp; column < b.columns(); column += warps) {
      const float x = b.at(j, column) / diagonal;
      for (int row = lane; row < j; row += warp_size) b.at(row, column) -= b.at(row, j) * x;
    }
    __syncwarp();
  }
  __syncthreads();
  for (int row = warp; row < b.unknowns; row += warps)
    for (int column = lane; column < b.right_sides; column += warp_size)
      write(column, row, b.at(row, b.unknowns + column) / b.at(row, row));
}

}  // namespace fmbem::cuda::bem
