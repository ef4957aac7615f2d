// A block has 32 rows for each of its rows of warps and eight columns for each of the tiles of a
// warp. Its factors come through shared memory, 32 terms of all rows and columns at a time, some
// of them on their way at once: a row of them is 128 bytes, whose groups of 16 are permuted so that
// eight rows are read without conflicts.
#include <algorithm>

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/split_number.cuh"
#include "fmbem/cuda/split_products.cuh"

namespace fmbem::cuda {
namespace {

constexpr int row_bytes = 4 * split_depth, group_bytes = 16;
constexpr int groups_of_a_row = row_bytes / group_bytes;

/// Of rows, columns and units of rows.
constexpr int stage_bytes(int rows, int columns) { return (rows + columns) * row_bytes + rows * 4; }

/// Warps are [ColumnWarps][RowWarps], each with 32 rows and `Tiles` tiles of eight columns;
/// `Stages` chunks of 32 terms have room in shared memory.
template <int ColumnWarps, int Tiles, int RowWarps, int Stages>
struct BlockShape {
  static constexpr int tiles = Tiles, row_warps = RowWarps, stages = Stages;
  static constexpr int rows = 32 * RowWarps, columns = 8 * Tiles * ColumnWarps;
  static constexpr int threads = warp_size * ColumnWarps * RowWarps;
  static constexpr int bytes = stage_bytes(rows, columns);
};

struct SplitProduct {
  GatheredView<float> a;   ///< rows
  OperatorsView<float> b;  ///< of columns
  int count;
  ProductsView<float> c;
};

/// Four 8 x 8 matrices of halves: lane l names row l mod 8 of matrix l / 8, and gets entries
/// (l / 4, 2 (l mod 4)) and the next one of each.
__device__ inline void load_matrices(unsigned (&matrices)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrices[0]), "=r"(matrices[1]), "=r"(matrices[2]), "=r"(matrices[3])
               : "r"(row));
}

/// sum += a b: 16 rows of a, 8 columns of b and 16 terms. A lane has, with i = lane / 4 and
/// t = lane mod 4, pairs of terms 2t, 2t + 1 (a[0], a[1], b[0]) and 2t + 8, 2t + 9 (a[2], a[3],
/// b[1]) of rows i (a[0], a[2]) and i + 8 and of column i, and (i, 2t), (i, 2t + 1), (i + 8, 2t)
/// and (i + 8, 2t + 1) of the sum.
__device__ inline void multiply_halves(float (&sum)[4], const unsigned (&a)[4], unsigned b0,
                                       unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Which terms a pair of the operators' halves has, of 32: pair 4 g + t of the high halves, as of
/// the low ones, is what lane t takes for the g-th eight terms, in the order in which
/// load_matrices() brings it the rows' numbers.
__host__ __device__ constexpr int first_of_pair(int pair) { return 8 * (pair / 4) + pair % 4; }
constexpr int second_after_first = 4;

/// Where a group of a row is, behind the begin of a stage's rows.
__device__ inline int group_at(int row, int group) {
  return row * row_bytes + (group ^ (row % groups_of_a_row)) * group_bytes;
}

/// Copies a block's factors to shared memory, a group of each of several rows a thread. Rows behind
/// the last one are copies of it, whose products are not kept.
template <class Shape>
class Loader {
 public:
  __device__ Loader(const SplitProduct& p, int e, int first_row, int first_column)
      : a_(p.a.values), b_(p.b.m2l), units_(p.a.units + first_row), unit_stride_(p.a.unit_stride) {
    const int row = static_cast<int>(threadIdx.x) / groups_of_a_row,
              group = static_cast<int>(threadIdx.x) % groups_of_a_row;
    to_ = group_at(row, group);
#pragma unroll
    for (int j = 0; j < a_steps; ++j) {
      const auto from = min(std::int64_t{first_row} + row + j * rows_at_once, p.a.rows - 1);
      from_a_[j] = static_cast<std::uint32_t>((e * p.a.rows + from) * p.a.stride + 4 * group);
    }
#pragma unroll
    for (int j = 0; j < b_steps; ++j) {
      const int from = min(first_column + row + j * rows_at_once, p.count - 1);
      from_b_[j] = static_cast<std::uint32_t>((std::int64_t{e} * p.count + from) * p.b.m2l_stride +
                                              4 * group);
    }
  }

  __device__ void load(int chunk, unsigned char* stage) const {
    const int first = chunk * split_depth, thread = static_cast<int>(threadIdx.x);
    if (thread >= rows_at_once * groups_of_a_row) return;
#pragma unroll
    for (int j = 0; j < a_steps; ++j)
      if (Shape::rows % rows_at_once == 0 ||
          thread / groups_of_a_row + j * rows_at_once < Shape::rows)
        __pipeline_memcpy_async(stage + to_ + j * rows_at_once * row_bytes, a_ + from_a_[j] + first,
                                group_bytes);
#pragma unroll
    for (int j = 0; j < b_steps; ++j)
      if (Shape::columns % rows_at_once == 0 ||
          thread / groups_of_a_row + j * rows_at_once < Shape::columns)
        __pipeline_memcpy_async(
            stage + Shape::rows * row_bytes + to_ + j * rows_at_once * row_bytes,
            b_ + from_b_[j] + first, group_bytes);
    if (thread < Shape::rows / 4)
      __pipeline_memcpy_async(stage + (Shape::rows + Shape::columns) * row_bytes + 16 * thread,
                              units_ + chunk * unit_stride_ + 4 * thread, 16);
  }

 private:
  // A multiple of eight, so that a thread's groups are permuted alike.
  static constexpr int rows_at_once = Shape::threads / groups_of_a_row / 8 * 8;
  static constexpr int a_steps = (Shape::rows + rows_at_once - 1) / rows_at_once,
                       b_steps = (Shape::columns + rows_at_once - 1) / rows_at_once;
  const SplitNumber *a_, *b_;
  const float* units_;
  std::int64_t unit_stride_;
  int to_;
  std::uint32_t from_a_[a_steps], from_b_[b_steps];
};

/// A block for some rows (x) and columns (z) of each of the eight products (y).
template <class Shape>
__global__ void __launch_bounds__(Shape::threads)
    multiply_split_kernel(const __grid_constant__ SplitProduct p) {
  constexpr int tiles = Shape::tiles, stages = Shape::stages;
  const int lane = static_cast<int>(threadIdx.x) % warp_size,
            warp = static_cast<int>(threadIdx.x) / warp_size;
  const int e = static_cast<int>(blockIdx.y);
  const int first_row = static_cast<int>(blockIdx.x) * Shape::rows,
            first_column = static_cast<int>(blockIdx.z) * Shape::columns;
  const int warp_row = 32 * (warp % Shape::row_warps),
            warp_column = 8 * tiles * (warp / Shape::row_warps);
  const int chunks = (p.a.orbits * p.count + split_depth - 1) / split_depth;
  unsigned char* const s_bytes = dynamic_shared<unsigned char>();
  const Loader<Shape> loader(p, e, first_row, first_column);
#pragma unroll
  for (int chunk = 0; chunk < stages - 1; ++chunk) {
    if (chunk < chunks) loader.load(chunk, s_bytes + chunk * Shape::bytes);
    __pipeline_commit();
  }
  // What the lane names for load_matrices(): rows i and i + 8 of two groups of the rows' numbers,
  // columns of four groups of the operators' high halves.
  const int lane_a = group_at(warp_row + lane % 16, lane / 16),
            lane_b = Shape::rows * row_bytes + group_at(warp_column + lane % 8, lane / 8);
  const int lane_unit = (Shape::rows + Shape::columns) * row_bytes + 4 * (warp_row + lane / 4);

  float sum[2][tiles][4] = {};
  int slot = 0;  // chunk mod stages
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();  // the chunk is there, and that before it has been used
    const int next = chunk + stages - 1;
    if (next < chunks)
      loader.load(next, s_bytes + (slot == 0 ? stages - 1 : slot - 1) * Shape::bytes);
    __pipeline_commit();

    const unsigned char* const stage = s_bytes + slot * Shape::bytes;
    slot = slot == stages - 1 ? 0 : slot + 1;
    const auto stage_a = static_cast<unsigned>(__cvta_generic_to_shared(stage)),
               high_b = stage_a + static_cast<unsigned>(lane_b),
               low_b = stage_a + static_cast<unsigned>(lane_b ^ (4 * group_bytes));
    unsigned high[2][2][4], low[2][2][4];  // [16 rows][16 terms]
    float unit[2][2];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        unsigned first[4], second[4];  // rows i, i + 8 of four terms each, twice
        const auto row = stage_a + static_cast<unsigned>(16 * row_bytes * m);
        constexpr int four = 4 * group_bytes, two = 2 * group_bytes;  // groups farther
        load_matrices(first, row + static_cast<unsigned>(lane_a ^ (four * k)));
        load_matrices(second, row + static_cast<unsigned>(lane_a ^ (four * k) ^ two));
        unit[m][k] = *reinterpret_cast<const float*>(stage + lane_unit + 4 * (16 * m + 8 * k));
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const SplitPair low_terms = pair_of(first[h], first[h + 2]),
                          high_terms = pair_of(second[h], second[h + 2]);
          high[m][k][h] = low_terms.high;
          low[m][k][h] = low_terms.low;
          high[m][k][h + 2] = high_terms.high;
          low[m][k][h + 2] = high_terms.low;
        }
      }
    constexpr int together = 2;  // tiles, so that products do not wait for each other's sums
#pragma unroll
    for (int n = 0; n < tiles; n += together) {
      unsigned b_high[together][4], b_low[together][4];
      float part[together][2][4] = {};
      const auto for_all = [&](const auto& of) {
#pragma unroll
        for (int j = 0; j < together; ++j)
          if (n + j < tiles)
#pragma unroll
            for (int m = 0; m < 2; ++m) of(j, m);
      };
#pragma unroll
      for (int j = 0; j < together; ++j)
        if (n + j < tiles) {
          const auto rows = static_cast<unsigned>(8 * row_bytes * (n + j));
          load_matrices(b_high[j], high_b + rows);
          load_matrices(b_low[j], low_b + rows);
        }
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        for_all([&](int j, int m) {
          multiply_halves(part[j][m], low[m][k], b_high[j][2 * k], b_high[j][2 * k + 1]);
        });
        for_all([&](int j, int m) {
          multiply_halves(part[j][m], high[m][k], b_low[j][2 * k], b_low[j][2 * k + 1]);
        });
        for_all([&](int j, int m) {
          multiply_halves(part[j][m], high[m][k], b_high[j][2 * k], b_high[j][2 * k + 1]);
        });
      }
      for_all([&](int j, int m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[m][n + j][i] += unit[m][i / 2] * part[j][m][i];
      });
    }
  }

  const float* const units = p.b.m2l_units + e * p.count;
#pragma unroll
  for (int n = 0; n < tiles; ++n) {
    const int column = first_column + warp_column + 8 * n + 2 * (lane % 4);
    if (column >= p.count) continue;
    const float low_unit = units[column], high_unit = units[min(column + 1, p.count - 1)];
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::int64_t row = first_row + warp_row + 16 * m + 8 * h + lane / 4;
        if (row >= p.a.rows) continue;
        // Rows have room for a multiple of four.
        *reinterpret_cast<float2*>(p.c.values + e * p.c.block + row * p.c.stride + column) =
            make_float2(low_unit * sum[m][n][2 * h], high_unit * sum[m][n][2 * h + 1]);
      }
  }
}

/// A block for each row of the operators.
__global__ void __launch_bounds__(threads_per_block)
    split_operators_kernel(const float* values, std::int64_t stride, int depth, SplitNumber* split,
                           float* units) {
  const std::int64_t row = blockIdx.x;
  values += row * stride;
  split += row * split_stride(depth);
  float largest = 0;
  for (int k = static_cast<int>(threadIdx.x); k < depth; k += threads_per_block)
    largest = fmaxf(largest, fabsf(values[k]));
  __shared__ float s_largest[warps_per_block];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  largest = largest_of_warp(largest);
  if (threadIdx.x % warp_size == 0) s_largest[warp] = largest;
  __syncthreads();
  for (const float other : s_largest) largest = fmaxf(largest, other);
  const SplitUnit unit(largest);
  if (threadIdx.x == 0) units[row] = unit.value();
  const int pairs = static_cast<int>(split_stride(depth)) / 2;
  for (int pair = static_cast<int>(threadIdx.x); pair < pairs; pair += threads_per_block) {
    const int chunk = pair / 16, first = chunk * split_depth + first_of_pair(pair % 16),
              second = first + second_after_first;
    const SplitPair halves =
        unit.split(first < depth ? values[first] : 0, second < depth ? values[second] : 0);
    split[chunk * split_depth + pair % 16] = halves.high;
    split[chunk * split_depth + 16 + pair % 16] = halves.low;
  }
}

template <class Shape>
void launch_shape(const SplitProduct& p, cudaStream_t stream) {
  launch(multiply_split_kernel<Shape>,
         dim3(blocks_for(p.a.rows, Shape::rows), 8, blocks_for(p.count, Shape::columns)),
         Shape::threads, std::size_t{Shape::stages} * Shape::bytes, stream, p);
}

/// A width of blocks: `count` columns.
template <int ColumnWarps, int Tiles>
struct Columns {
  static constexpr int stages = 3;
  template <int RowWarps>
  using Shape = BlockShape<ColumnWarps, Tiles, RowWarps, stages>;
  static constexpr int count = Shape<4>::columns, bytes = Shape<4>::bytes;

  /// With 128 rows a block, or 96 where the multiprocessors are done sooner that way.
  static void launch(const SplitProduct& p, cudaStream_t stream) {
    const std::int64_t multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
    const auto rows_in_turn = [&](int rows) {
      const std::int64_t blocks =
          std::int64_t{8} * blocks_for(p.a.rows, rows) * blocks_for(p.count, count);
      return (blocks + multiprocessors - 1) / multiprocessors * rows;
    };
    if (rows_in_turn(96) < rows_in_turn(128))
      launch_shape<Shape<3>>(p, stream);
    else
      launch_shape<Shape<4>>(p, stream);
  }
};

/// From few columns to many.
template <class... Columns>
struct Widths {
  /// As many columns in a block as shared memory has room for, in parts of the same size.
  static void launch(const SplitProduct& p, cudaStream_t stream) {
    const int room = static_cast<int>(shared_memory_of_a_block());
    int most = 0;
    ((most = Columns::stages * Columns::bytes <= room ? Columns::count : most), ...);
    const int parts = (p.count + most - 1) / most, least = (p.count + parts - 1) / parts;
    bool done = false;
    ((!done && least <= Columns::count ? (Columns::launch(p, stream), done = true) : false), ...);
  }
};
using AllWidths = Widths<Columns<4, 1>, Columns<3, 2>, Columns<4, 2>, Columns<3, 4>, Columns<3, 5>,
                         Columns<4, 4>, Columns<3, 6>, Columns<4, 5>, Columns<4, 6>, Columns<3, 9>>;

/// Where rows are few, a product takes what its chunks take one after the other: little in blocks
/// of few products, as long as all of them are on the GPU at once.
using FewRows = BlockShape<4, 1, 1, 5>;
constexpr std::int64_t few_rows_together = 4;  // blocks of a multiprocessor

bool are_few(const SplitProduct& p) {
  return std::int64_t{8} * blocks_for(p.a.rows, FewRows::rows) *
             blocks_for(p.count, FewRows::columns) <=
         few_rows_together * device_attribute(cudaDevAttrMultiProcessorCount);
}

}  // namespace

void split_operators(const float* values, std::int64_t stride, int count, int depth,
                     SplitNumber* split, float* units, cudaStream_t stream) {
  launch(split_operators_kernel, 8 * static_cast<unsigned>(count), threads_per_block, 0, stream,
         values, stride, depth, split, units);
}

void multiply_split(const GatheredView<float>& gathered, const OperatorsView<float>& operators,
                    int count, const ProductsView<float>& products, cudaStream_t stream) {
  if (gathered.rows == 0) return;
  const SplitProduct product{gathered, operators, count, products};
  if (are_few(product))
    launch_shape<FewRows>(product, stream);
  else
    AllWidths::launch(product, stream);
}

}  // namespace fmbem::cuda
