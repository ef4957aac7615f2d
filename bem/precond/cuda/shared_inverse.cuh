#pragma once

#include <cuda_pipeline_primitives.h>

#include "fmbem/bem/precond/cuda/tensor_products.cuh"
#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda::bem {

/// Threads of a block that works in shared memory, and blocks of a multiprocessor.
inline constexpr int shared_threads = 128, shared_blocks = 3;

/// Rows of a matrix in shared memory, at most, and rows and columns of its tiles.
inline constexpr int most_in_shared = 128, shared_tile = 32;

/// A square matrix of whole tiles by columns, in shared memory. The stride of its columns, an odd
/// number of fours, is the same for all, so that rows of a tile are in different banks.
struct SharedMatrix {
  static constexpr int stride = most_in_shared + 4;

  float* entries;
  int size;

  __host__ __device__ static constexpr int whole_tiles(int rows) {
    return (rows + shared_tile - 1) / shared_tile * shared_tile;
  }
  __host__ __device__ static constexpr int floats(int size) { return stride * size; }
  __device__ float* column(int c) const { return entries + c * stride; }
};

/// Begins to copy 16 bytes to shared memory; wait_for_copies() before the block's next barrier.
__device__ inline void begin_copy(float* to, const float* from) {
  __pipeline_memcpy_async(to, from, 4 * sizeof(float));
}
__device__ inline void wait_for_copies() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
}

/// The product of 8 RowTiles rows in a SharedMatrix and 16 ColumnTiles columns, by a warp on tensor
/// cores, to 2^-22 of what is added.
template <int RowTiles, int ColumnTiles>
class WarpProduct {
 public:
  static constexpr int columns = 16 * ColumnTiles;

  __device__ WarpProduct() = default;
  /// Begins with entries begin(row, column), each with that of the next row; rows are even.
  template <class Begin>
  __device__ explicit WarpProduct(Begin&& begin) {
    for_all([&](int row, int column, float& x, float& y) {
      const float2 entries = begin(row, column);
      x = entries.x;
      y = entries.y;
    });
  }

  /// Adds left · right of so many terms, a multiple of eight; `left` is the first entry of the
  /// rows, `right` that of the columns, which are anywhere and begin at multiples of eight bytes.
  __device__ void add(const float* left, const float* right, int right_stride, int terms) {
    constexpr int stride = SharedMatrix::stride, together = 4;
    static_assert(RowTiles % together == 0);
    const int i = lane() / 4, t = lane() % 4;
    const float* const column = right + i * right_stride + 2 * t;
    const float* rows = left + 2 * t * stride + i;
    float2 next[2 * ColumnTiles];
    const auto load = [&](int k) {
#pragma unroll
      for (int h = 0; h < 2 * ColumnTiles; ++h)
        next[h] = *reinterpret_cast<const float2*>(column + 8 * h * right_stride + k);
    };
    load(0);
#pragma unroll 1
    for (int k = 0; k < terms; k += 8, rows += 8 * stride) {
      unsigned r_high[ColumnTiles][4], r_low[ColumnTiles][4];
#pragma unroll
      for (int v = 0; v < ColumnTiles; ++v) {
        const SplitFloat r[4] = {split(next[2 * v].x), split(next[2 * v + 1].x),
                                 split(next[2 * v].y), split(next[2 * v + 1].y)};
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          r_high[v][e] = r[e].high;
          r_low[v][e] = r[e].low;
        }
      }
      load(min(k + 8, terms - 8));  // under way together with the products
#pragma unroll
      for (int first = 0; first < RowTiles; first += together) {
        unsigned l_high[together][2], l_low[together][2];
#pragma unroll
        for (int n = 0; n < together; ++n)
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            const SplitFloat l = split(rows[c * stride + 8 * (first + n)]);
            l_high[n][c] = l.high;
            l_low[n][c] = l.low;
          }
        const auto add_all = [&](const auto& of_columns, const auto& of_rows) {
#pragma unroll
          for (int n = 0; n < together; ++n)
#pragma unroll
            for (int v = 0; v < ColumnTiles; ++v)
              multiply_add(sum_[v][first + n], of_columns[v], of_rows[n]);
        };
        add_all(r_low, l_high);  // products of one tile wait for each other
        add_all(r_high, l_low);
        add_all(r_high, l_high);
      }
    }
  }

  /// Calls use(row, column, entries in that row and the next one); rows are even.
  template <class Use>
  __device__ void for_each(Use&& use) {
    for_all([&](int row, int column, float x, float y) { use(row, column, make_float2(x, y)); });
  }

 private:
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  template <class Use>
  __device__ void for_all(Use&& use) {
    const int i = lane() / 4, t = lane() % 4;
#pragma unroll
    for (int v = 0; v < ColumnTiles; ++v)
#pragma unroll
      for (int n = 0; n < RowTiles; ++n)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          use(8 * n + 2 * t, 16 * v + i + 8 * h, sum_[v][n][2 * h], sum_[v][n][2 * h + 1]);
  }

  float sum_[ColumnTiles][RowTiles][4] = {};
};

/// By a warp: the inverse of a tile in its place, by Gauss' and Jordan's elimination with pivots on
/// the diagonal.
__device__ inline __noinline__ void invert_tile(float* entries) {
  __builtin_assume(__isShared(entries));
  constexpr int stride = SharedMatrix::stride;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  // From the column of the step on, in turn; of a pivot's row from its step on that row times the
  // pivot, so that it is like the others.
  float row[shared_tile];
#pragma unroll
  for (int c = 0; c < shared_tile; ++c) row[c] = entries[c * stride + lane];
  float own_pivot = 0;
#pragma unroll 2
  for (int k = 0; k < shared_tile; ++k) {
    const float pivot = __shfl_sync(whole_warp, row[0], k);
    const bool is_pivot = lane == k;
    const float factor = is_pivot ? 0 : __fdividef(row[0], pivot);
    if (is_pivot) own_pivot = pivot;
#pragma unroll
    for (int c = 1; c < shared_tile; ++c)
      row[c - 1] = row[c] - factor * __shfl_sync(whole_warp, row[c], k);
    row[shared_tile - 1] = is_pivot ? 1 : -factor;
  }
  const float inverse = 1 / own_pivot;
#pragma unroll
  for (int c = 0; c < shared_tile; ++c) entries[c * stride + lane] = inverse * row[c];
}

/// Whether B is the inverse of A, by one vector x: B (A x) must be x to 1 %. Made before A is
/// overwritten, with a barrier of the block behind it; by a block of shared_threads. x has a mean,
/// as constants are what elimination without pivots loses first.
class InverseCheck {
 public:
  __device__ InverseCheck(const SharedMatrix& a, float* product) : product_(product) {
    for_rows(
        a, [&](int k, float sum) { product[k] = sum; }, entry);
  }
  /// NaN is none.
  __device__ bool passes(const SharedMatrix& inverse) const {
    constexpr float tolerance = 1e-2f;
    bool all = true;
    for_rows(
        inverse, [&](int k, float sum) { all = all && fabsf(sum - entry(k)) <= tolerance; },
        [&](int k) { return product_[k]; });
    return __syncthreads_and(static_cast<int>(all)) != 0;
  }

 private:
  __device__ static float entry(int k) { return static_cast<float>(k % 3) - 0.5f; }
  /// Sums of a matrix times a vector.
  template <class Use, class Vector>
  __device__ static void for_rows(const SharedMatrix& a, Use&& use, Vector&& vector) {
    for (int k = static_cast<int>(threadIdx.x); k < a.size; k += shared_threads) {
      float sum = 0;
#pragma unroll 8
      for (int c = 0; c < a.size; ++c) sum += a.column(c)[k] * vector(c);
      use(k, sum);
    }
  }

  float* product_;  ///< [size]
};

/// By a block of shared_threads: the inverse of a matrix in its place, by Gauss' and Jordan's
/// elimination of tiles. Pivots are on the diagonal, which is stable close to the identity and for
/// potentials. False if the matrix is singular or wants others.
__device__ inline bool invert(const SharedMatrix& a) {
  using Tile = WarpProduct<shared_tile / 8, shared_tile / 16>;
  __shared__ float s_product[most_in_shared];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size,
            warps = shared_threads / warp_size, tiles = a.size / shared_tile;
  const auto part = [&](int i, int j) { return a.column(shared_tile * j) + shared_tile * i; };
  const auto at = [](float* entries, int row, int c) -> float2& {
    return *reinterpret_cast<float2*>(entries + c * SharedMatrix::stride + row);
  };
  // Rows of the pivots times the inverse of their tile, in the columns of tile j.
  const auto multiply_pivots = [&](int p, int j) {
    Tile pivots;
    pivots.add(part(p, p), part(p, j), SharedMatrix::stride, shared_tile);
    __syncwarp();
    pivots.for_each([&](int row, int c, float2 entries) { at(part(p, j), row, c) = entries; });
    __syncwarp();
  };
  // What they take from tile i of these columns.
  const auto subtract_pivots = [&](int p, int i, int j) {
    Tile taken;
    taken.add(part(i, p), part(p, j), SharedMatrix::stride, shared_tile);
    taken.for_each([&](int row, int c, float2 entries) {
      float2& entry = at(part(i, j), row, c);
      entry = make_float2(entry.x - entries.x, entry.y - entries.y);
    });
    __syncwarp();
  };
  const InverseCheck check(a, s_product);
  __syncthreads();
  if (warp == warps - 1) invert_tile(part(0, 0));
  __syncthreads();
  for (int p = 0; p < tiles; ++p) {
    // The last warp sees to the next tile on the diagonal, whose inverse the next step needs, and
    // to no other one of its column; the others have the other columns, a tile's at a time.
    const int next = p + 1, left_out = next < tiles ? 2 : 1;
    if (warp == warps - 1) {
      if (next < tiles) {
        multiply_pivots(p, next);
        subtract_pivots(p, next, next);
        invert_tile(part(next, next));
      }
    } else {
      for (int v = warp; v < tiles - left_out; v += warps - 1) {
        const int j = v < p ? v : v + left_out;
        multiply_pivots(p, j);
        for (int i = 0; i < tiles; ++i)
          if (i != p) subtract_pivots(p, i, j);
      }
    }
    __syncthreads();
    // What is left of the next tile's column, and the columns of the pivots.
    for (int v = warp; v < tiles - 1; v += warps) {
      const int i = v < p ? v : v + 1;
      if (i != next && next < tiles) subtract_pivots(p, i, next);
      Tile product;
      product.add(part(i, p), part(p, p), SharedMatrix::stride, shared_tile);
      __syncwarp();
      product.for_each([&](int row, int c, float2 entries) {
        at(part(i, p), row, c) = make_float2(-entries.x, -entries.y);
      });
    }
    __syncthreads();
  }
  return check.passes(a);
}

}  // namespace fmbem::cuda::bem
