// L2L and the last step of M2L, in the blocks of fmm/expansion/translations.hpp.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/butterfly.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {
namespace {

/// v, negated where the reflection changes the sign of harmonics of this class.
template <class T>
__device__ inline T reflected(T v, int parity, int reflection) {
  return __popc(parity & reflection) & 1 ? -v : v;
}

template <bool Adds, class T>
__device__ inline void write(T value, T& to) {
  if constexpr (Adds)
    to += value;
  else
    to = value;
}

constexpr int l2l_rows = 4;

/// The members of ParentsView are passed one by one: as a struct, the compiler would make other
/// code of them.
template <class T, bool Adds>
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
          write<Adds>(reflected(value[row][g], parity, g), expansions.local(child, v)[k]);
      }
    }
  }
}

/// Threads for a loop over K coefficients: few rounds, and few idle threads.
int threads_for(int count, int most) {
  const int rounds = (count + most - 1) / most, each = (count + rounds - 1) / rounds;
  return (each + warp_size - 1) / warp_size * warp_size;
}

}  // namespace

template <class T>
void l2l(const TreeView& tree, const ParentsView& parents, const Classes& classes,
         const OperatorsView<T>& operators, const ProductsView<T>& products,
         const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const std::int64_t rows =
      static_cast<std::int64_t>(parents.last - parents.first) * expansions.vectors;
  launch(parents.adds ? l2l_kernel<T, true> : l2l_kernel<T, false>, blocks_for(rows, l2l_rows),
         threads_for(expansions.count, 256), sizeof(T) * l2l_rows * expansions.count, stream, tree,
         parents.split, parents.first, parents.last, parents.has_local, classes, operators,
         products, expansions);
}

#define FMBEM_INSTANTIATE(T)                                                                      \
  template void l2l(const TreeView&, const ParentsView&, const Classes&, const OperatorsView<T>&, \
                    const ProductsView<T>&, const ExpansionsView<T>&, cudaStream_t);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
