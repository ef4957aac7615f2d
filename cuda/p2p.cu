// P2P: a warp for up to 40 targets of a leaf. Its lanes are 4 groups of 8. The lanes of a group
// share the targets out, and the groups share out the sources. So the targets of a leaf are rounded
// up to a multiple of 8, and a source read from shared memory serves several targets.
//
// Sources of other leaves come in tiles without gaps (p2p_tiles.cuh). In single precision the loop
// over a tile does not look for sources that are too close: only those at the border of the
// targets' leaf can be, and they are found when they are put into the tile (p2p_close.cuh).
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_entries.cuh"

namespace fmbem::cuda {
namespace {

/// The targets of one item, `Each` for a lane.
template <class N, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each, class Kernel>
__device__ void near_item(const NearArguments<N>& a, const Kernel& in_tree, const NearItem& item,
                          WarpShared<N, Dipoles>& shared) {
  constexpr bool single = sizeof(N) == 4;
  N x[Each], y[Each], z[Each], to_leaf = 1;
  Sums<double, Potential, Gradient> sums[Each];
  load_targets(a, item, x, y, z);
  if constexpr (single && Dipoles) to_leaf = static_cast<float>(inverse_side(a, item.row));
  double unit = 1;  // of lengths in this item
  if constexpr (single && !Kernel::homogeneous) unit = 1 / inverse_side(a, item.row);
  const auto kernel = near_kernel<N>(in_unit(in_tree, unit));
  // Targets with a source too close for single precision.
  unsigned long long close =
      add_leaf_itself<Terms>(a, kernel, item, to_leaf, x, y, z, shared, sums);
  const std::int64_t begin = a.lists.begin[item.row] + a.lists.own_entries[item.row],
                     end = a.lists.begin[item.row + 1];
  close |=
      add_entries<false, Terms, Dipoles>(a, kernel, begin, end, to_leaf, x, y, z, shared, sums);
  double scale = 1;
  if constexpr (single) scale = inverse_side(a, item.row);
  write_item(a, item, scale, sums);
  if constexpr (single) {
    if (close == 0) return;
    __syncwarp();  // what is written now comes after what was
    for (; close != 0; close &= close - 1) {
      const int i = __ffsll(static_cast<long long>(close)) - 1;
      const auto sum = exact_sums<Dipoles, Potential, Gradient>(a, near_kernel<double>(in_tree),
                                                                item.row, item.first + i);
      if (threadIdx.x % warp_size == 0) write_sums(a, item.first + i, 1, sum);
    }
  }
}

/// Blocks of a multiprocessor that registers have to suffice for.
constexpr int blocks_of_a_processor(bool potential_in_single, int each) {
  return !potential_in_single ? 4 : each <= 4 ? 6 : 5;
}

/// Items with `Each` targets a lane, from `first` on.
template <class N, class Kernel, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each>
__global__ void __launch_bounds__(threads_per_block,
                                  blocks_of_a_processor(sizeof(N) == 4 && !Gradient && !Dipoles,
                                                        Each))
    p2p_kernel(const __grid_constant__ NearArguments<N> a, const __grid_constant__ Kernel kernel,
               std::int32_t first, std::int32_t last) {
  __shared__ WarpShared<N, Dipoles> s_of_warp[warps_per_block];
  const int warp = threadIdx.x / warp_size;
  const std::int32_t i = first + static_cast<std::int32_t>(blockIdx.x) * warps_per_block + warp;
  if (i >= last) return;
  near_item<N, Terms, Dipoles, Potential, Gradient, Each>(a, kernel, a.items[i], s_of_warp[warp]);
}

/// From the class with the fewest targets a lane on: its warps get the least done and should not be
/// the last to end. Within a class the longest items begin.
template <int Terms, bool Dipoles, bool Potential, bool Gradient, int Each = 1, class N,
          class Kernel>
void launch_classes(const NearArguments<N>& a, const Kernel& kernel, const ItemClasses& classes,
                    const cudaStream_t* streams) {
  constexpr int most = most_targets_of_a_warp(sizeof(N) == 4, Gradient) / group_lanes;
  const std::int32_t first = classes.begin[Each], last = classes.begin[Each + 1];
  launch(p2p_kernel<N, Kernel, Terms, Dipoles, Potential, Gradient, Each>,
         blocks_for(last - first, warps_per_block), threads_per_block, 0, streams[Each - 1], a,
         kernel, first, last);
  if constexpr (Each < most)
    launch_classes<Terms, Dipoles, Potential, Gradient, Each + 1>(a, kernel, classes, streams);
}

template <int Terms, bool Dipoles, class N, class Kernel>
void launch_near(const NearArguments<N>& a, const Kernel& kernel, const ItemClasses& classes,
                 const cudaStream_t* streams) {
  const bool potential = a.results.potential != nullptr;
  const bool gradient = a.results.gradient[0] != nullptr;
  if (potential && gradient)
    launch_classes<Terms, Dipoles, true, true>(a, kernel, classes, streams);
  else if (potential)
    launch_classes<Terms, Dipoles, true, false>(a, kernel, classes, streams);
  else
    launch_classes<Terms, Dipoles, false, true>(a, kernel, classes, streams);
}

template <int Terms, class N, class Kernel>
void launch_near(const NearArguments<N>& a, const Kernel& kernel, const ItemClasses& classes,
                 const cudaStream_t* streams) {
  if (a.strengths.dipoles)
    launch_near<Terms, true>(a, kernel, classes, streams);
  else
    launch_near<Terms, false>(a, kernel, classes, streams);
}

}  // namespace

template <class N, class Kernel>
void p2p(NearArguments<N> a, const Kernel& kernel, int vectors, const ItemClasses& classes,
         int root_terms, const cudaStream_t* streams) {
  for (int v = 0; v < vectors; ++v) {
    if (sizeof(N) == 4 || root_terms == 1)
      launch_near<1>(a, kernel, classes, streams);
    else if constexpr (sizeof(N) == 8)
      launch_near<2>(a, kernel, classes, streams);
    a.strengths.places += a.sources.count;
    if (a.strengths.dipoles) a.strengths.dipoles += a.sources.count;
    if (a.results.potential) a.results.potential += a.targets.count;
    for (double*& component : a.results.gradient)
      if (component) component += a.targets.count;
  }
}

#define FMBEM_INSTANTIATE(Kernel)                                                            \
  template void p2p(NearArguments<double>, const fmm::Kernel&, int, const ItemClasses&, int, \
                    const cudaStream_t*);                                                    \
  template void p2p(NearArguments<float>, const fmm::Kernel&, int, const ItemClasses&, int,  \
                    const cudaStream_t*);
FMBEM_FOR_EACH_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
