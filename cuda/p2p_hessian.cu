// P2P of second derivatives: a pass of its own over the items of p2p.cu, in double precision.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_entries.cuh"

namespace fmbem::cuda {
namespace {

/// Items with `Each` targets a lane, from `first` on.
template <class Kernel, bool Dipoles, int Each>
__global__ void __launch_bounds__(threads_per_block)
    p2p_hessian_kernel(const __grid_constant__ NearArguments<double> a,
                       const __grid_constant__ Kernel in_tree, std::int32_t first,
                       std::int32_t last) {
  constexpr int terms = 2;
  __shared__ WarpShared<double, Dipoles> s_of_warp[warps_per_block];
  const int warp = threadIdx.x / warp_size;
  const std::int32_t i = first + static_cast<std::int32_t>(blockIdx.x) * warps_per_block + warp;
  if (i >= last) return;
  const NearItem item = a.items[i];
  const auto kernel = near_kernel<double>(in_tree);
  double x[Each], y[Each], z[Each];
  HessianSums<double> sums[Each];
  load_targets(a, item, x, y, z);
  const std::int64_t begin = a.lists.begin[item.row],
                     others = begin + a.lists.own_entries[item.row],
                     end = a.lists.begin[item.row + 1];
  add_entries<true, terms, Dipoles>(a, kernel, begin, others, 1.0, x, y, z, s_of_warp[warp], sums);
  add_entries<false, terms, Dipoles>(a, kernel, others, end, 1.0, x, y, z, s_of_warp[warp], sums);
  write_item(a, item, 1, sums);
}

template <bool Dipoles, int Each = 1, class Kernel>
void launch_classes_of_hessian(const NearArguments<double>& a, const Kernel& kernel,
                               const ItemClasses& classes, const cudaStream_t* streams) {
  constexpr int most = most_targets_of_a_warp(false, true) / group_lanes;
  const std::int32_t first = classes.begin[Each], last = classes.begin[Each + 1];
  launch(p2p_hessian_kernel<Kernel, Dipoles, Each>, blocks_for(last - first, warps_per_block),
         threads_per_block, 0, streams[Each - 1], a, kernel, first, last);
  if constexpr (Each < most)
    launch_classes_of_hessian<Dipoles, Each + 1>(a, kernel, classes, streams);
}

}  // namespace

template <class Kernel>
void p2p_hessian(NearArguments<double> a, const Kernel& kernel, int vectors,
                 const ItemClasses& classes, const cudaStream_t* streams) {
  for (int v = 0; v < vectors; ++v) {
    if (a.strengths.dipoles)
      launch_classes_of_hessian<true>(a, kernel, classes, streams);
    else
      launch_classes_of_hessian<false>(a, kernel, classes, streams);
    a.strengths.places += a.sources.count;
    if (a.strengths.dipoles) a.strengths.dipoles += a.sources.count;
    for (double*& entry : a.results.hessian) entry += a.targets.count;
  }
}

#define FMBEM_INSTANTIATE(Kernel)                                                               \
  template void p2p_hessian(NearArguments<double>, const fmm::Kernel&, int, const ItemClasses&, \
                            const cudaStream_t*);
FMBEM_FOR_EACH_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
