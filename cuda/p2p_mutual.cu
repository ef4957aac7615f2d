// P2P by Newton's third law: as in p2p.cu a warp takes up to 40 targets of a leaf, here against the
// points of later leaves (p2p_mutual_sums.cuh); what these get is added afterwards.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_mutual_sums.cuh"

namespace fmbem::cuda {
namespace {

template <class N, class Kernel, int Terms, bool Potential, bool Gradient, int Each>
__global__ void __launch_bounds__(threads_per_block)
    mutual_kernel(const __grid_constant__ NearArguments<N> a,
                  const __grid_constant__ MutualView lists, const __grid_constant__ Kernel in_tree,
                  Slots<N> slots, std::int32_t first, std::int32_t last) {
  __shared__ WarpShared<N, false> s_of_warp[warps_per_block];
  constexpr bool single = sizeof(N) == 4;
  const int warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
  const std::int32_t i = first + static_cast<std::int32_t>(blockIdx.x) * warps_per_block + warp;
  if (i >= last) return;
  const NearItem item = a.items[i];
  LaneTargets<N, Each> at;
  load_targets(a, item, at.x, at.y, at.z);
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const int place = t * group_lanes + lane % group_lanes;
    at.charge[t] = place < item.count ? a.strengths.places[item.first + place].charge : N(0);
  }
  double scale = 1;
  if constexpr (single) scale = inverse_side(a, item.row);
  const auto kernel = near_kernel<N>(in_unit(in_tree, 1 / scale));
  Sums<double, Potential, Gradient> sums[Each];
  add_leaf_itself<Terms, false>(a, kernel, item, N(1), at.x, at.y, at.z, s_of_warp[warp], sums);
  add_later<Terms>(a, lists, kernel, item, at, s_of_warp[warp], sums, slots);
  write_item(a, item, scale, sums);
}

/// What earlier leaves owe to the points of each item, a warp an item: large leaves have many
/// points, each with much to add up.
template <class N, bool Potential, bool Gradient>
__global__ void __launch_bounds__(threads_per_block)
    add_earlier(const __grid_constant__ NearArguments<N> a,
                const __grid_constant__ MutualView lists, Slots<N> slots, std::int64_t items) {
  const std::int64_t of_all = thread_index() / warp_size;
  if (of_all >= items) return;
  const NearItem item = a.items[of_all];
  const std::int32_t row = item.row, last = item.first + item.count;
  const std::int32_t first_of_row = a.tree.sources[a.leaves[row]].x;
  const std::int64_t begin = lists.rows[row].earlier_begin, end = lists.rows[row + 1].earlier_begin;
  double scale = 1;
  if constexpr (sizeof(N) == 4) scale = inverse_side(a, row);
  for (int i = item.first + threadIdx.x % warp_size; i < last; i += warp_size) {
    Sums<double, Potential, Gradient> sum;
#pragma unroll 4
    for (std::int64_t k = begin; k < end; ++k) {
      const EarlierSums given = lists.earlier[k];
      slots.add_to(sum, given.slot + (i - first_of_row),
                   sizeof(N) == 4 ? ldexp(1.0, -given.doublings) : 1.0);
    }
    if constexpr (Potential) a.results.potential[i] += scale * sum.potential;
    if constexpr (Gradient) {
      a.results.gradient[0][i] += scale * scale * sum.x;
      a.results.gradient[1][i] += scale * scale * sum.y;
      a.results.gradient[2][i] += scale * scale * sum.z;
    }
  }
}

/// Close targets once more in double precision, a warp for each.
template <class Kernel, bool Potential, bool Gradient>
__global__ void __launch_bounds__(threads_per_block)
    repeat_close(const __grid_constant__ NearArguments<float> a, const CloseTarget* close,
                 std::int64_t count, const __grid_constant__ Kernel kernel) {
  const std::int64_t i = thread_index() / warp_size;
  if (i >= count) return;
  const CloseTarget at = close[i];
  const auto sum =
      exact_sums<false, Potential, Gradient>(a, near_kernel<double>(kernel), at.row, at.target);
  if (threadIdx.x % warp_size == 0) write_sums(a, at.target, 1, sum);
}

/// As launch_classes() of p2p.cu.
template <int Terms, bool Potential, bool Gradient, int Each = 1, class N, class Kernel>
void launch_mutual(const NearArguments<N>& a, const MutualView& lists, const Kernel& kernel,
                   const Slots<N>& slots, const ItemClasses& classes, const cudaStream_t* streams) {
  constexpr int most = most_targets_of_a_warp(sizeof(N) == 4, Gradient) / group_lanes;
  const std::int32_t first = classes.begin[Each], last = classes.begin[Each + 1];
  launch(mutual_kernel<N, Kernel, Terms, Potential, Gradient, Each>,
         blocks_for(last - first, warps_per_block), threads_per_block, 0, streams[Each - 1], a,
         lists, kernel, slots, first, last);
  if constexpr (Each < most)
    launch_mutual<Terms, Potential, Gradient, Each + 1>(a, lists, kernel, slots, classes, streams);
}

void wait_for(cudaStream_t stream, const Event& event, cudaStream_t other) {
  FMBEM_CUDA(cudaEventRecord(event, other));
  FMBEM_CUDA(cudaStreamWaitEvent(stream, event, 0));
}

/// One right-hand side.
template <bool Potential, bool Gradient, class N, class Kernel>
void mutual_vector(const NearArguments<N>& a, const MutualView& lists, const Slots<N>& slots,
                   const Kernel& kernel, const ItemClasses& classes, int root_terms,
                   const cudaStream_t* streams, const Event* joins) {
  for (int k = 1; k < most_targets_of_a_lane; ++k) wait_for(streams[k], joins[0], streams[0]);
  if (sizeof(N) == 4 || root_terms == 1)
    launch_mutual<1, Potential, Gradient>(a, lists, kernel, slots, classes, streams);
  else if constexpr (sizeof(N) == 8)
    launch_mutual<2, Potential, Gradient>(a, lists, kernel, slots, classes, streams);
  for (int k = 1; k < most_targets_of_a_lane; ++k) wait_for(streams[0], joins[k], streams[k]);
  const std::int32_t items = classes.begin[most_targets_of_a_lane + 1];
  launch(add_earlier<N, Potential, Gradient>, blocks_for(items, warps_per_block), threads_per_block,
         0, streams[0], a, lists, slots, items);
  if constexpr (sizeof(N) == 4)
    launch(repeat_close<Kernel, Potential, Gradient>, blocks_for(lists.n_close, warps_per_block),
           threads_per_block, 0, streams[0], a, lists.close, lists.n_close, kernel);
}

}  // namespace

template <class N, class Kernel>
void p2p_mutual(NearArguments<N> a, const MutualView& lists, N* sums, const Kernel& kernel,
                int vectors, const ItemClasses& classes, int root_terms,
                const cudaStream_t* streams, const Event* joins) {
  const Slots<N> slots{sums, lists.slots};
  const bool potential = a.results.potential != nullptr;
  const bool gradient = a.results.gradient[0] != nullptr;
  const auto of = [&](auto with_potential, auto with_gradient) {
    mutual_vector<with_potential(), with_gradient()>(a, lists, slots, kernel, classes, root_terms,
                                                     streams, joins);
  };
  using Yes = std::true_type;
  using No = std::false_type;
  for (int v = 0; v < vectors; ++v) {
    if (potential && gradient)
      of(Yes(), Yes());
    else if (potential)
      of(Yes(), No());
    else
      of(No(), Yes());
    a.strengths.places += a.sources.count;
    if (a.results.potential) a.results.potential += a.targets.count;
    for (double*& component : a.results.gradient)
      if (component) component += a.targets.count;
  }
}

#define FMBEM_INSTANTIATE(N, Kernel)                                                         \
  template void p2p_mutual(NearArguments<N>, const MutualView&, N*, const fmm::Kernel&, int, \
                           const ItemClasses&, int, const cudaStream_t*, const Event*);
#define FMBEM_INSTANTIATE_BOTH(Kernel) \
  FMBEM_INSTANTIATE(double, Kernel)    \
  FMBEM_INSTANTIATE(float, Kernel)
FMBEM_FOR_EACH_KERNEL(FMBEM_INSTANTIATE_BOTH)
#undef FMBEM_INSTANTIATE_BOTH
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
