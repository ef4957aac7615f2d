// M2L as in fmm/expansion/m2l_blocks.cpp: blocks X of a high degree, made from tables of irregular
// functions, one for each orbit, and projected to Bᵀ X B. B does not mix classes, so each class of
// rows and of columns of a block is a task of its own, and X is never stored. Of Laplace's kernel
// an entry of X is two of a table's numbers, of Yukawa's two of the shifts that recurrences make of
// it.
#include <algorithm>
#include <vector>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/m2l_operators.cuh"
#include "fmbem/cuda/m2l_tables.cuh"
#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::cuda {
namespace {

/// A product goes through shared memory in pieces of this size; each thread has 4 x 2 of the sums.
constexpr int tile_rows = 64, tile_columns = 32, tile_depth = 16;
constexpr int row_groups = tile_rows / 4, column_groups = tile_columns / 2;
constexpr int tile_threads = row_groups * column_groups;
constexpr int left_stride = tile_rows + 2, right_stride = tile_columns + 2;
constexpr int left_entries = tile_depth * left_stride, right_entries = tile_depth * right_stride;

struct Tile {
  double sum[4][2];  ///< [row][column]

  __device__ static int row() { return 4 * (static_cast<int>(threadIdx.x) / column_groups); }
  __device__ static int column() { return 2 * (static_cast<int>(threadIdx.x) % column_groups); }

  /// Adds left [depth][rows] times right [depth][columns].
  __device__ void add(const double* left, const double* right) {
#pragma unroll 4
    for (int k = 0; k < tile_depth; ++k) {
      const auto a = reinterpret_cast<const double2*>(left + k * left_stride + row());
      const double rows[4] = {a[0].x, a[0].y, a[1].x, a[1].y};
      const double2 columns =
          *reinterpret_cast<const double2*>(right + k * right_stride + column());
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sum[i][0] += rows[i] * columns.x;
        sum[i][1] += rows[i] * columns.y;
      }
    }
  }
};

struct Begins {
  int low[9], high[9];  ///< of the classes
  int fit[8];           ///< of their Bᵀ
  __host__ __device__ int known(int c) const { return low[c + 1] - low[c]; }
  __host__ __device__ int size(int c) const { return high[c + 1] - high[c]; }
};

/// C_{n,m}^{kl} and C_{n,−m}^{kl}, m ≥ 0, of Laplace's kernel: of tables, numbers of a higher
/// degree.
struct TableEntries {
  const double* tables;
  int count;  ///< of numbers of a table

  struct OfClasses {
    const double* table;
    double sum, difference;
    __device__ double operator()(int n, int m, int k, int l) const {
      const double* const here = table + fmm::harmonic_index(n + k, m);
      return sum * here[l] + difference * here[-l];
    }
  };
  __device__ OfClasses of(int orbit, const fmm::M2lClasses& classes) const {
    return {
        tables + (2 * (8 * std::int64_t{orbit} + classes.w) + (classes.imaginary ? 1 : 0)) * count,
        classes.sum, classes.difference};
  }
};

/// The same of Yukawa's, by ShiftColumns.
struct ShiftEntries {
  const double* columns;
  int p;

  struct OfClasses {
    const double* columns;
    double sum, difference;
    int count;  ///< of numbers of a column
    __device__ double operator()(int n, int m, int k, int l) const {
      const double* const here =
          columns + std::int64_t{k * (k + 1) / 2 + l} * count + fmm::harmonic_index(n, 0);
      const double of_difference = (m + l) % 2 ? -difference : difference;
      return sum * here[m] + of_difference * here[-m];
    }
  };
  __device__ OfClasses of(int orbit, const fmm::M2lClasses& classes) const {
    const std::int64_t size = std::int64_t{(p + 1) * (p + 2) / 2} * fmm::harmonic_count(p);
    return {
        columns + (2 * (8 * std::int64_t{orbit} + classes.w) + (classes.imaginary ? 1 : 0)) * size,
        classes.sum, classes.imaginary ? -classes.difference : classes.difference,
        fmm::harmonic_count(p)};
  }
};

struct BlocksView {
  Begins begin;
  int count;  ///< K
  std::int64_t stride;
  const int *degree, *order;   ///< n and |m| of the coefficients of high degree
  const double* inverse_norm;  ///< of them, as of fmm::inverse_norms()
  const double* fit;           ///< [known][unknown] for each class
};

/// Rows of the products X B of a class, with room for what reads whole tiles of them.
__host__ __device__ constexpr int middle_rows(int size) { return size + tile_depth; }

/// A block for each class of rows and of columns and each tile of columns (x), and for each orbit
/// and block e (y). `out` is where the first orbit's columns are.
template <class T, class Entries>
__global__ void __launch_bounds__(tile_threads)
    make_blocks(const __grid_constant__ BlocksView a, const __grid_constant__ Entries entries,
                T* out) {
  const int pair = static_cast<int>(blockIdx.x) % 64, r = pair / 8, c = pair % 8;
  const int first_column = static_cast<int>(blockIdx.x) / 64 * tile_columns;
  const int orbit = static_cast<int>(blockIdx.y) / 8, e = static_cast<int>(blockIdx.y) % 8;
  const int rows = a.begin.size(r), known_r = a.begin.known(r), unknown_r = rows - known_r;
  const int known_c = a.begin.known(c), unknown_c = a.begin.size(c) - known_c;
  if (first_column >= known_c) return;
  double* const s_left = dynamic_shared<double>();
  double* const s_right = s_left + left_entries;
  double* const s_middle = s_right + right_entries;  // [middle_rows(rows)][right_stride]
  const int thread = static_cast<int>(threadIdx.x), warp = thread / warp_size;

  const auto of_classes = entries.of(orbit, fmm::M2lClasses(e, r, c));
  const auto entry = [&](int i, int j) {
    if (i >= rows) return 0.0;
    const int row = a.begin.high[r] + i, column = a.begin.high[c] + j, n = a.degree[row];
    return (n % 2 ? -0.125 : 0.125) * a.inverse_norm[row] * a.inverse_norm[column] *
           of_classes(n, a.order[row], a.degree[column], a.order[column]);
  };

  for (int first = 0; first < rows; first += tile_rows) {
    const bool works = first + 8 * warp < rows;  // rows of a warp
    Tile tile;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = first_column + Tile::column() + j;
        tile.sum[i][j] = column < known_c ? entry(first + Tile::row() + i, column) : 0;
      }
    for (int depth = 0; depth < unknown_c; depth += tile_depth) {
      for (int k = thread; k < tile_rows * tile_depth; k += tile_threads) {
        const int row = k % tile_rows, u = k / tile_rows;
        s_left[u * left_stride + row] =
            depth + u < unknown_c ? entry(first + row, known_c + depth + u) : 0;
      }
      for (int k = thread; k < tile_columns * tile_depth; k += tile_threads) {
        const int u = k % tile_depth, column = k / tile_depth;
        s_right[u * right_stride + column] =
            depth + u < unknown_c && first_column + column < known_c
                ? a.fit[a.begin.fit[c] + (first_column + column) * unknown_c + depth + u]
                : 0;
      }
      __syncthreads();
      if (works) tile.add(s_left, s_right);
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first + Tile::row() + i;
      if (row < rows)
        *reinterpret_cast<double2*>(s_middle + row * right_stride + Tile::column()) =
            make_double2(tile.sum[i][0], tile.sum[i][1]);
    }
  }
  // The last tile of the next product reads beyond the last row: put zeros there.
  for (int k = thread; k < tile_depth * right_stride; k += tile_threads)
    s_middle[rows * right_stride + k] = 0;
  __syncthreads();

  for (int first = 0; first < known_r; first += tile_rows) {
    const bool works = first + 8 * warp < known_r;
    Tile tile;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j)
        tile.sum[i][j] =
            first + Tile::row() + i < known_r
                ? s_middle[(first + Tile::row() + i) * right_stride + Tile::column() + j]
                : 0;
    for (int depth = 0; depth < unknown_r; depth += tile_depth) {
      for (int k = thread; k < tile_rows * tile_depth; k += tile_threads) {
        const int u = k % tile_depth, row = k / tile_depth;
        s_left[u * left_stride + row] =
            depth + u < unknown_r && first + row < known_r
                ? a.fit[a.begin.fit[r] + (first + row) * unknown_r + depth + u]
                : 0;
      }
      __syncthreads();
      if (works) tile.add(s_left, s_middle + (known_r + depth) * right_stride);
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int row = first + Tile::row() + i, column = first_column + Tile::column() + j;
        if (row < known_r && column < known_c)
          out[(static_cast<std::int64_t>(e) * a.count + a.begin.low[r] + row) * a.stride +
              static_cast<std::int64_t>(orbit) * a.count + a.begin.low[c] + column] =
              static_cast<T>(tile.sum[i][j]);
      }
  }
}

}  // namespace

template <class T>
DeviceBuffer<T> make_m2l_operators(const fmm::Yukawa& kernel, const fmm::ParityOrder& order,
                                   std::int64_t stride, cudaStream_t stream) {
  const fmm::ParityOrder high(fmm::fitted_degree(order.p));
  std::vector<int> abs_m;
  for (const int m : high.azimuth) abs_m.push_back(std::abs(m));
  const auto degree = copied_to_device(high.degree, stream),
             azimuth = copied_to_device(abs_m, stream);
  const auto inverse_norm = copied_to_device(fmm::inverse_norms(high), stream);
  const DeviceBuffer<double> tables = make_m2l_tables(kernel, 2 * high.p, stream);
  const fmm::BoxFit box_fit(order, high, kernel);  // while the device is at the tables
  Begins begin{};
  std::vector<double> all_fit;
  int largest = 0, most_known = 0;
  for (int c = 0; c < 8; ++c) {
    begin.low[c + 1] = order.begin[c + 1];
    begin.high[c + 1] = high.begin[c + 1];
    begin.fit[c] = static_cast<int>(all_fit.size());
    const std::vector<double>& part = box_fit.transposed(c);
    all_fit.insert(all_fit.end(), part.begin(), part.end());
    largest = std::max(largest, begin.size(c));
    most_known = std::max(most_known, begin.known(c));
  }
  const auto fit = copied_to_device(all_fit, stream);
  DeviceBuffer<T> result(8 * order.count * stride, stream);
  const std::size_t shared =
      (left_entries + right_entries + std::size_t{right_stride} * middle_rows(largest)) *
      sizeof(double);
  const BlocksView view{begin,          order.count,         stride,    degree.data(),
                        azimuth.data(), inverse_norm.data(), fit.data()};
  const auto make = [&](const auto& entries, int first, int count) {
    launch(make_blocks<T, std::decay_t<decltype(entries)>>,
           dim3(64 * blocks_for(most_known, tile_columns), 8 * count), tile_threads, shared, stream,
           view, entries, result.data() + std::int64_t{first} * order.count);
  };
  if (kernel.kappa == 0) {
    make(TableEntries{tables.data(), fmm::harmonic_count(2 * high.p)}, 0, far_orbits);
  } else {
    ShiftColumns columns(kernel, high.p, tables, stream);
    for (int first = 0; first < far_orbits; first += columns.orbits_at_once()) {
      const int count = std::min(columns.orbits_at_once(), far_orbits - first);
      columns.make(first, count);
      make(ShiftEntries{columns.data(), high.p}, first, count);
    }
  }
  return result;
}

#define FMBEM_INSTANTIATE(T)                                                               \
  template DeviceBuffer<T> make_m2l_operators(const fmm::Yukawa&, const fmm::ParityOrder&, \
                                              std::int64_t, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
