// L2L and the last step of M2L, in the blocks of fmm/expansion/translations.hpp.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/butterfly.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {
namespace {

template <bool Adds, class T>
__device__ inline void write(T value, T& to) {
  if constexpr (Adds)
    to += value;
  else
    to = value;
}

constexpr int most_l2l_threads = 512;

/// A block for `Rows` parents (or right-hand sides). The threads divide the eight sums of each
/// coefficient, and then the butterflies of these. The members of ParentsView are passed one by
/// one: as a struct, the compiler would make other code of them.
template <class T, int Rows, bool Adds>
__global__ void __launch_bounds__(most_l2l_threads)
    l2l_kernel(TreeView tree, const std::int32_t* parents, std::int32_t first, std::int32_t last,
               bool has_local, const __grid_constant__ Classes classes, OperatorsView<T> operators,
               ProductsView<T> products, ExpansionsView<T> expansions) {
  const int count = expansions.count, vectors = expansions.vectors;
  T* const s_local = dynamic_shared<T>();   // [K][Rows]
  T* const s_sum = s_local + Rows * count;  // [Rows][8][K]
  __shared__ std::int32_t s_child[Rows][8];
  const int first_row = first * vectors + static_cast<int>(blockIdx.x) * Rows;
  const int rows = min(Rows, last * vectors - first_row);
  const auto split_of = [&](int row) { return parents[(first_row + row) / vectors]; };
  for (int i = threadIdx.x; i < 8 * rows; i += blockDim.x) {
    const std::int32_t child =
        tree.child[8 * static_cast<std::int64_t>(split_of(i / 8)) + (7 ^ i % 8)];
    s_child[i / 8][i % 8] = child >= 0 && !is_empty(tree.targets[child]) ? child : -1;
  }
  const T* const product = products.values + (first_row - products.first_row) * products.stride;
  for (int i = threadIdx.x; i < 8 * count; i += blockDim.x) {
    const int e = i / count, k = i % count;
#pragma unroll
    for (int row = 0; row < Rows; ++row)
      s_sum[(row * 8 + e) * count + k] =
          row < rows ? product[e * products.block + row * products.stride + k] : T(0);
  }
  wait_for_launch_before();  // all above has been there for longer
  if (has_local) {
    for (int i = threadIdx.x; i < Rows * count; i += blockDim.x) {
      const int row = i / count, k = i % count;
      T value = 0;
      if (row < rows)
        value = expansions.local(tree.box_of[split_of(row)], (first_row + row) % vectors)[k];
      s_local[k * Rows + row] = value;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 8 * count; i += blockDim.x) {
      const int e = i / count, k = i % count, end = classes.begin[e + 1];
      T sum[Rows];
#pragma unroll
      for (int row = 0; row < Rows; ++row) sum[row] = s_sum[(row * 8 + e) * count + k];
      const T* const column = operators.downward + k;
#pragma unroll 8
      for (int j = classes.begin[e]; j < end; ++j) {
        const T entry = column[static_cast<std::int64_t>(j) * count];
#pragma unroll
        for (int row = 0; row < Rows; ++row) sum[row] += entry * s_local[j * Rows + row];
      }
#pragma unroll
      for (int row = 0; row < Rows; ++row) s_sum[(row * 8 + e) * count + k] = sum[row];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < rows * count; i += blockDim.x) {
    const int row = i / count, k = i % count, parity = classes.of[k];
    T value[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) value[e] = s_sum[(row * 8 + e) * count + k];
    transform(value);
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      const std::int32_t child = s_child[row][g];
      if (child >= 0)
        write<Adds>(reflected(value[g], parity, g),
                    expansions.local(child, (first_row + row) % vectors)[k]);
    }
  }
}

template <class T, bool Adds>
auto l2l_kernel_for(int rows) {
  return rows == 4   ? l2l_kernel<T, 4, Adds>
         : rows == 2 ? l2l_kernel<T, 2, Adds>
                     : l2l_kernel<T, 1, Adds>;
}

/// Threads for a loop over so many numbers: few rounds, and few idle threads.
int threads_for(int count, int most) {
  const int rounds = (count + most - 1) / most, each = (count + rounds - 1) / rounds;
  return (each + warp_size - 1) / warp_size * warp_size;
}

}  // namespace

template <class T>
void l2l(const TreeView& tree, const ParentsView& parents, const Classes& classes,
         const OperatorsView<T>& operators, const ProductsView<T>& products,
         const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const std::size_t of_row = 9 * sizeof(T) * expansions.count;
  const int rows = rows_of_a_block(of_row);
  const std::int64_t all =
      static_cast<std::int64_t>(parents.last - parents.first) * expansions.vectors;
  launch_in_turn(parents.follows,
                 parents.adds ? l2l_kernel_for<T, true>(rows) : l2l_kernel_for<T, false>(rows),
                 blocks_for(all, rows), threads_for(8 * expansions.count, most_l2l_threads),
                 rows * of_row, stream, tree, parents.split, parents.first, parents.last,
                 parents.has_local, classes, operators, products, expansions);
}

#define FMBEM_INSTANTIATE(T)                                                                      \
  template void l2l(const TreeView&, const ParentsView&, const Classes&, const OperatorsView<T>&, \
                    const ProductsView<T>&, const ExpansionsView<T>&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
