#pragma once

#include "fmbem/bem/precond/cuda/tiles.cuh"

namespace fmbem::cuda::bem {

/// A = L Lᵀ in place, by a block, with N = L⁻¹ in place of the tiles on the diagonal. False if A is
/// not positive definite. To be called by all threads, when the matrix is there for all of them.
__device__ inline bool factorise(const TileMatrix& a) {
  __shared__ int s_positive;
  const int group = group_of_thread();
  for (int j = 0; j < a.count; ++j) {
    if (threadIdx.x < warp_size) {
      const bool positive = invert_factor(a.at(j, j));
      if (threadIdx.x == 0) s_positive = positive;
    }
    __syncthreads();
    if (!s_positive) return false;
    for (int first = j + 1; first < a.count; first += tiles_at_once()) {
      const int i = first + group;
      TilePart<true> part;
      if (i < a.count) part.add_product(a.at(i, j), a.at(j, j));
      __syncwarp();
      if (i < a.count) part.store(a.at(i, j), 1);
    }
    __syncthreads();
    int i = j + 1, k = j + 1 + group;
    for (;; k += tiles_at_once()) {
      for (; k > i && i < a.count; ++i) k -= i - j;
      if (i >= a.count) break;
      TilePart<true> part;
      part.add_product(a.at(i, j), a.at(k, j));
      part.subtract_from(a.at(i, k));
    }
    __syncthreads();
  }
  return true;
}

/// X = L₂₁ L₁₁⁻¹ in place of L₂₁, whose tile rows begin with `first`.
__device__ inline void divide_by_factor(const TileMatrix& a, int first) {
  const int group = group_of_thread(), rows = a.count - first;
  for (int k = first - 1; k >= 0; --k) {
    for (int begin = first; begin < a.count; begin += tiles_at_once()) {
      const int i = begin + group;
      TilePart<false> part;
      if (i < a.count) part.add_product(a.at(i, k), a.at(k, k));
      __syncwarp();
      if (i < a.count) part.store(a.at(i, k), 1);
    }
    __syncthreads();
    for (int task = group; task < rows * k; task += tiles_at_once()) {
      const int i = first + task % rows, j = task / rows;
      TilePart<false> part;
      part.add_product(a.at(i, k), a.at(k, j));
      part.subtract_from(a.at(i, j));
    }
    __syncthreads();
  }
}

/// S⁻¹ = (L₂₂ L₂₂ᵀ)⁻¹ in place of L₂₂: its lower triangle and whole tiles on the diagonal.
__device__ inline void invert_last(const TileMatrix& a, int first) {
  const int group = group_of_thread();
  // N = L₂₂⁻¹, column by column from the last: N_ij = −Σ_k N_ik L_kj N_jj, j < k ≤ i. The last rows
  // go first, as others do not need what they overwrite.
  for (int j = a.count - 1; j >= first; --j) {
    for (int last = a.count - 1; last > j; last -= tiles_at_once()) {
      const int i = last - group;
      TilePart<false> sum, part;
      for (int k = j + 1; k <= i; ++k) sum.add_product(a.at(i, k), a.at(k, j));
      __syncthreads();
      if (i > j) sum.store(a.at(i, j), 1);
      __syncwarp();
      if (i > j) part.add_product(a.at(i, j), a.at(j, j));
      __syncwarp();
      if (i > j) part.store(a.at(i, j), -1);
    }
    __syncthreads();
  }
  // S⁻¹_ij = Σ_k N_kiᵀ N_kj, k ≥ i; the diagonal tile, which others need, is overwritten last.
  for (int i = first; i < a.count; ++i) {
    for (int begin = first; begin <= i; begin += tiles_at_once()) {
      const int j = begin + group;
      TilePart<false> sum;
      if (j <= i)
        for (int k = i; k < a.count; ++k) sum.add_product<true>(a.at(k, i), a.at(k, j));
      __syncthreads();
      if (j <= i) sum.store(a.at(i, j), 1);
    }
    __syncthreads();
  }
}

/// Calls write(row, column, value) for the rows of A⁻¹ from tile row `first` on, which are
/// S⁻¹ [−L₂₁ L₁₁⁻¹ | 1], after factorise().
template <class Write>
__device__ void write_last_rows(const TileMatrix& a, int first, Write&& write) {
  divide_by_factor(a, first);
  invert_last(a, first);
  const int rows = a.count - first;
  using Part = TilePart<false>;
  for (int task = group_of_thread(); task < rows * first; task += tiles_at_once()) {
    const int i = first + task % rows, j = task / rows;
    Part part;
    for (int k = first; k < a.count; ++k) {
      if (k <= i)
        part.add_product(a.at(i, k), a.at(k, j));
      else
        part.add_product<true>(a.at(k, i), a.at(k, j));
    }
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        write(tile * i + Part::row() + r, tile * j + Part::column(c), -part.sum[c][r]);
  }
  const int warps = block_threads() / warp_size;
  const int thread = static_cast<int>(threadIdx.x), own = tile * first, end = tile * a.count;
  for (int j = own + thread / warp_size; j < end; j += warps)
    for (int i = own + thread % warp_size; i < end; i += warp_size)
      write(i, j, a.entry(max(i, j), min(i, j)));
}

}  // namespace fmbem::cuda::bem
