// M2M, the gathers of M2L, and L2L, in the blocks of fmm/translations.hpp.
#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::cuda {
namespace {

/// v negated where the reflection changes the sign of a harmonic of this class.
template <class T>
__device__ inline T reflected(T v, int parity, int reflection) {
  return __popc(parity & reflection) & 1 ? -v : v;
}

/// Walsh-Hadamard transform: v[e] = Σ_g (−1)^|e & g| v[g].
template <class T>
__device__ inline void transform(T* v) {
#pragma unroll
  for (int half = 1; half < 8; half *= 2) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      if (g & half) continue;
      const T sum = v[g] + v[g | half], difference = v[g] - v[g | half];
      v[g] = sum;
      v[g | half] = difference;
    }
  }
}

// ---- M2M

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

// ---- M2L

constexpr int places = fmm::orbits - 1;

/// A thread for each coefficient of each orbit (x) of a row (y and z).
template <class T>
__global__ void __launch_bounds__(threads_per_block)
    gather_kernel(const std::int32_t* sources, Classes classes, ExpansionsView<T> expansions,
                  GatheredView<T> gathered) {
  const int row = static_cast<int>(blockIdx.y * gridDim.z + blockIdx.z);
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int count = expansions.count;
  if (row >= gathered.rows || place >= gathered.orbits * count) return;
  // place/count, whose rounding is far smaller than half of 1/count
  const int orbit =
      static_cast<int>((static_cast<float>(place) + 0.5f) / static_cast<float>(count));
  const int k = place - orbit * count;
  const int vectors = expansions.vectors, row_of_all = static_cast<int>(gathered.first_row) + row;
  const std::int64_t parent = row_of_all / vectors;
  const int v = row_of_all % vectors;
  const int4* const boxes =
      reinterpret_cast<const int4*>(sources + (parent * places + gathered.first_orbit + orbit) * 8);
  const int4 low = boxes[0], high = boxes[1];
  const std::int32_t box[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
  T value[8];
#pragma unroll
  for (int g = 0; g < 8; ++g) value[g] = box[g] < 0 ? T(0) : expansions.moment(box[g], v)[k];
  // The signs of the reflections exchange the blocks.
  const int parity = classes.of[k];
  transform(value);
  T* const out = gathered.values + row * gathered.stride + place;
#pragma unroll
  for (int e = 0; e < 8; ++e) out[(e ^ parity) * (gathered.rows * gathered.stride)] = value[e];
}

// ---- L2L

constexpr int l2l_rows = 4;

template <class T>
__global__ void l2l_kernel(TreeView tree, const std::int32_t* parents, std::int32_t first,
                           std::int32_t last, bool has_local, Classes classes,
                           OperatorsView<T> operators, ProductsView<T> products,
                           ExpansionsView<T> expansions) {
  T* const s_local = dynamic_shared<T>();  // [K][rows]
  const int count = expansions.count, vectors = expansions.vectors;
  const int first_row = first * vectors + static_cast<int>(blockIdx.x) * l2l_rows;
  const int rows = min(l2l_rows, last * vectors - first_row);
  const T* const product = products.values + (first_row - products.first_row) * products.stride;
  if (has_local) {
    for (int i = threadIdx.x; i < l2l_rows * count; i += blockDim.x) {
      const int row = i / count, k = i % count;
      T value = 0;
      if (row < rows)
        value = expansions.local(tree.box_of[parents[(first_row + row) / vectors]],
                                 (first_row + row) % vectors)[k];
      s_local[k * l2l_rows + row] = value;
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < count; k += blockDim.x) {
    T value[l2l_rows][8];
#pragma unroll
    for (int row = 0; row < l2l_rows; ++row)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        value[row][e] = row < rows ? product[e * products.block + row * products.stride + k] : T(0);
    if (has_local) {
      constexpr int ahead = 8;  // entries that are on their way from memory
      const T* const column = operators.downward + k;
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const int class_end = classes.begin[e + 1];
        for (int i = classes.begin[e]; i < class_end; i += ahead) {
          T entry[ahead];
#pragma unroll
          for (int u = 0; u < ahead; ++u)
            entry[u] = i + u < class_end ? column[static_cast<std::int64_t>(i + u) * count] : T(0);
#pragma unroll
          for (int u = 0; u < ahead; ++u)
#pragma unroll
            for (int row = 0; row < l2l_rows; ++row)
              value[row][e] += entry[u] * s_local[min(i + u, class_end - 1) * l2l_rows + row];
        }
      }
    }
    const int parity = classes.of[k];
#pragma unroll
    for (int row = 0; row < l2l_rows; ++row) {
      if (row >= rows) break;
      transform(value[row]);
      const std::int64_t split = parents[(first_row + row) / vectors];
      const int v = (first_row + row) % vectors;
#pragma unroll
      for (int g = 0; g < 8; ++g) {
        const std::int32_t child = tree.child[8 * split + (7 ^ g)];
        if (child >= 0 && tree.targets[child].x < tree.targets[child].y)
          expansions.local(child, v)[k] = reflected(value[row][g], parity, g);
      }
    }
  }
}

/// Threads for a loop over K coefficients, in as few rounds and with as few idle as may be.
int threads_for(int count, int most) {
  const int rounds = (count + most - 1) / most, each = (count + rounds - 1) / rounds;
  return (each + warp_size - 1) / warp_size * warp_size;
}

}  // namespace

template <class T>
void m2m(const TreeView& tree, std::int32_t first, std::int32_t last, const Classes& classes,
         const OperatorsView<T>& operators, const ExpansionsView<T>& expansions,
         cudaStream_t stream) {
  const std::size_t most = shared_memory_of_a_block();
  const std::size_t of_row = 8 * sizeof(T) * expansions.count;
  const int rows = 4 * of_row <= most ? 4 : 2 * of_row <= most ? 2 : 1;
  const std::int64_t all = static_cast<std::int64_t>(last - first) * expansions.vectors;
  launch(rows == 4   ? m2m_kernel<T, 4>
         : rows == 2 ? m2m_kernel<T, 2>
                     : m2m_kernel<T, 1>,
         blocks_for(all, rows), m2m_threads, rows * of_row, stream, tree, first, last, classes,
         operators, expansions);
}

template <class T>
void gather(const std::int32_t* sources, const Classes& classes,
            const ExpansionsView<T>& expansions, const GatheredView<T>& gathered,
            cudaStream_t stream) {
  // Neighbours in space, whose sources are mostly the same, run together.
  constexpr int rows_together = 8;
  launch(gather_kernel<T>,
         dim3(blocks_for(gathered.orbits * expansions.count),
              blocks_for(gathered.rows, rows_together), rows_together),
         threads_per_block, 0, stream, sources, classes, expansions, gathered);
}

template <class T>
void l2l(const TreeView& tree, const std::int32_t* parents, std::int32_t first, std::int32_t last,
         bool has_local, const Classes& classes, const OperatorsView<T>& operators,
         const ProductsView<T>& products, const ExpansionsView<T>& expansions,
         cudaStream_t stream) {
  const std::int64_t rows = static_cast<std::int64_t>(last - first) * expansions.vectors;
  launch(l2l_kernel<T>, blocks_for(rows, l2l_rows), threads_for(expansions.count, 256),
         sizeof(T) * l2l_rows * expansions.count, stream, tree, parents, first, last, has_local,
         classes, operators, products, expansions);
}

#define FMBEM_INSTANTIATE(T)                                                                \
  template void m2m(const TreeView&, std::int32_t, std::int32_t, const Classes&,            \
                    const OperatorsView<T>&, const ExpansionsView<T>&, cudaStream_t);       \
  template void gather(const std::int32_t*, const Classes&, const ExpansionsView<T>&,       \
                       const GatheredView<T>&, cudaStream_t);                               \
  template void l2l(const TreeView&, const std::int32_t*, std::int32_t, std::int32_t, bool, \
                    const Classes&, const OperatorsView<T>&, const ProductsView<T>&,        \
                    const ExpansionsView<T>&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
