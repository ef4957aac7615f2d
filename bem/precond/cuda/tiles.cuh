#pragma once

#include <cstdint>

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda::bem {

/// Threads of a block that solves a symmetric system; 16 of them work on one tile of 16 x 16, each
/// on 4 x 4 of its entries.
inline constexpr int solve_threads = 256;
inline constexpr int tile = 16, tile_entries = tile * tile, tile_threads = 16;

/// Of the running block.
__device__ inline int block_threads() { return static_cast<int>(blockDim.x); }
__device__ inline int tiles_at_once() { return block_threads() / tile_threads; }

/// The lower triangle of a symmetric matrix as tiles, tile row after tile row, each by columns.
struct TileMatrix {
  float* entries;
  int count;  ///< of tile rows

  static constexpr std::int64_t size(int count) {
    return static_cast<std::int64_t>(count) * (count + 1) / 2 * tile_entries;
  }
  __device__ float* at(int i, int j) const {
    return entries + static_cast<std::int64_t>(i * (i + 1) / 2 + j) * tile_entries;
  }
  /// The place of an entry with row ≥ column, or in a tile on the diagonal.
  __device__ float& entry(int row, int column) const {
    return at(row / tile, column / tile)[column % tile * tile + row % tile];
  }
};

__device__ inline int group_of_thread() { return static_cast<int>(threadIdx.x) / tile_threads; }

/// 4 x 4 entries of a product of two tiles: rows 4a to 4a + 3, and four columns, which are next to
/// each other where the second factor is transposed and every fourth where it is not, so that banks
/// of shared memory do not clash.
template <bool TransposedB>
struct TilePart {
  float sum[4][4] = {};  ///< [column][row]

  __device__ static int row() { return 4 * (static_cast<int>(threadIdx.x) % 4); }
  __device__ static int column(int k) {
    const int own = static_cast<int>(threadIdx.x) % tile_threads / 4;
    return TransposedB ? 4 * own + k : own + 4 * k;
  }

  /// Adds the product of A or its transpose and B or its transpose.
  template <bool TransposedA = false>
  __device__ void add_product(const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < tile; k += 4) {
      float part_a[4][4], part_b[4][4];  // [k][row], [k][column]
#pragma unroll
      for (int l = 0; l < 4; ++l) {
        if constexpr (TransposedA)
          load(a + (row() + l) * tile + k, part_a[0][l], part_a[1][l], part_a[2][l], part_a[3][l]);
        else
          load(a + (k + l) * tile + row(), part_a[l][0], part_a[l][1], part_a[l][2], part_a[l][3]);
        if constexpr (TransposedB)
          load(b + (k + l) * tile + column(0), part_b[l][0], part_b[l][1], part_b[l][2],
               part_b[l][3]);
        else
          load(b + column(l) * tile + k, part_b[0][l], part_b[1][l], part_b[2][l], part_b[3][l]);
      }
#pragma unroll
      for (int l = 0; l < 4; ++l)
#pragma unroll
        for (int c = 0; c < 4; ++c)
#pragma unroll
          for (int r = 0; r < 4; ++r) sum[c][r] += part_a[l][r] * part_b[l][c];
    }
  }

  /// to = sign·sum, or to += sign·sum.
  __device__ void store(float* to, float sign) const {
#pragma unroll
    for (int c = 0; c < 4; ++c)
      *quad(to, c) =
          make_float4(sign * sum[c][0], sign * sum[c][1], sign * sum[c][2], sign * sum[c][3]);
  }
  __device__ void subtract_from(float* to) const {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const float4 old = *quad(to, c);
      *quad(to, c) =
          make_float4(old.x - sum[c][0], old.y - sum[c][1], old.z - sum[c][2], old.w - sum[c][3]);
    }
  }

 private:
  __device__ static void load(const float* from, float& x, float& y, float& z, float& w) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    x = v.x;
    y = v.y;
    z = v.z;
    w = v.w;
  }
  __device__ static float4* quad(float* to, int c) {
    return reinterpret_cast<float4*>(to + column(c) * tile + row());
  }
};

/// In place, by one warp: the inverse N of the Cholesky factor of a tile. Nothing above the
/// diagonal is read, and zeros are written there. False if the tile is not positive definite.
__device__ inline bool invert_factor(float* entries) {
  const int lane = static_cast<int>(threadIdx.x) % warp_size, row = lane % tile;
  float l[tile], inverse_diagonal[tile], n[tile];
#pragma unroll
  for (int k = 0; k < tile; ++k) l[k] = entries[k * tile + row];
  bool positive = true;
#pragma unroll
  for (int k = 0; k < tile; ++k) {
    const float pivot = __shfl_sync(whole_warp, l[k], k);
    positive = positive && pivot > 0;
    inverse_diagonal[k] = 1 / sqrtf(pivot);
    l[k] *= inverse_diagonal[k];
#pragma unroll
    for (int c = k + 1; c < tile; ++c) l[c] -= l[k] * __shfl_sync(whole_warp, l[k], c);
  }
#pragma unroll
  for (int i = 0; i < tile; ++i) {
    float sum = i == row ? 1.f : 0.f;
#pragma unroll
    for (int k = 0; k < i; ++k) sum -= __shfl_sync(whole_warp, l[k], i) * n[k];
    n[i] = sum * inverse_diagonal[i];
  }
  __syncwarp();
  // Row `row` of the lanes is a column of N.
  if (lane < tile) {
#pragma unroll
    for (int i = 0; i < tile; ++i) entries[row * tile + i] = n[i];
  }
  return positive;
}

}  // namespace fmbem::cuda::bem
