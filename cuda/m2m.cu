// M2M in the blocks of fmm/expansion/translations.hpp.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/butterfly.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {
namespace {

constexpr int m2m_threads = 384;

/// A block for `Rows` parents (or right-hand sides): the butterfly of their children, and the eight
/// products. The threads divide the coefficients and, in parts, the terms of the products.
template <class T, int Rows>
__global__ void __launch_bounds__(m2m_threads)
    m2m_kernel(TreeView tree, std::int32_t first, std::int32_t last, Classes classes,
               OperatorsView<T> operators, ExpansionsView<T> expansions) {
  const int count = expansions.count, vectors = expansions.vectors;
  T* const s_butterfly = dynamic_shared<T>();  // [8][K][Rows]
  __shared__ T s_part[Rows][m2m_threads];
  __shared__ std::int32_t s_child[Rows][8];
  const int all_rows = (last - first) * vectors, first_row = static_cast<int>(blockIdx.x) * Rows;
  const int rows = min(Rows, all_rows - first_row);
  for (int i = threadIdx.x; i < 8 * Rows; i += blockDim.x) {
    std::int32_t child = -1;
    if (i / 8 < rows) {
      const std::int64_t split = first + (first_row + i / 8) / vectors;
      child = tree.child[8 * split + (7 ^ i % 8)];
      if (child >= 0 && tree.sources[child].x == tree.sources[child].y) child = -1;
    }
    s_child[i / 8][i % 8] = child;
  }
  wait_for_launch_before();
  __syncthreads();
  for (int i = threadIdx.x; i < Rows * count; i += blockDim.x) {
    const int row = i / count, k = i % count, parity = classes.of[k];
    const int v = (first_row + row) % vectors;
    T value[8];
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const std::int32_t child = s_child[row][g];
      value[g] = child < 0 ? T(0) : expansions.moment(child, v)[k];
    }
    transform(value);
#pragma unroll
    for (int e = 0; e < 8; ++e) s_butterfly[((e ^ parity) * count + k) * Rows + row] = value[e];
  }
  __syncthreads();

  for (int from = 0; from < count; from += m2m_threads) {
    const int some = min(count - from, m2m_threads), parts = m2m_threads / some;
    const int position = from + threadIdx.x % some, part = threadIdx.x / some;
    T sum[Rows] = {};
    if (part < parts) {
      const int e = classes.of[position], begin = classes.begin[e];
      const int own = classes.begin[e + 1] - begin;
      const T* const column =
          operators.upward + static_cast<std::int64_t>(count) * begin + (position - begin);
      const T* const values = s_butterfly + e * count * Rows;
#pragma unroll 8
      for (int k = part; k < count; k += parts) {
        const T entry = column[k * own];
#pragma unroll
        for (int row = 0; row < Rows; ++row) sum[row] += entry * values[k * Rows + row];
      }
    }
#pragma unroll
    for (int row = 0; row < Rows; ++row) s_part[row][threadIdx.x] = sum[row];
    __syncthreads();
    for (int i = threadIdx.x; i < rows * some; i += blockDim.x) {
      const int row = i / some, place = i % some;
      T total = 0;
      for (int k = 0; k < parts; ++k) total += s_part[row][k * some + place];
      const std::int32_t box = tree.box_of[first + (first_row + row) / vectors];
      if (tree.sources[box].x == tree.sources[box].y) continue;
      T& moment = expansions.moment(box, (first_row + row) % vectors)[from + place];
      // To what P2M has written where the box has sources of its own.
      moment = tree.held && tree.held[box] > 0 ? moment + total : total;
    }
    __syncthreads();
  }
}

}  // namespace

template <class T>
void m2m(const TreeView& tree, const SplitsView& splits, const Classes& classes,
         const OperatorsView<T>& operators, const ExpansionsView<T>& expansions,
         cudaStream_t stream) {
  const std::size_t of_row = 8 * sizeof(T) * expansions.count;
  const int rows = rows_of_a_block(of_row);
  const std::int64_t all =
      static_cast<std::int64_t>(splits.last - splits.first) * expansions.vectors;
  launch_in_turn(splits.follows,
                 rows == 4   ? m2m_kernel<T, 4>
                 : rows == 2 ? m2m_kernel<T, 2>
                             : m2m_kernel<T, 1>,
                 blocks_for(all, rows), m2m_threads, rows * of_row, stream, tree, splits.first,
                 splits.last, classes, operators, expansions);
}

#define FMBEM_INSTANTIATE(T)                                                                     \
  template void m2m(const TreeView&, const SplitsView&, const Classes&, const OperatorsView<T>&, \
                    const ExpansionsView<T>&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
