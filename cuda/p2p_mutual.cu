// P2P by Newton's third law. As in p2p.cu a warp takes up to 40 targets of a leaf, here against the
// points of later leaves; the charges of its targets stay in registers besides. Four lanes' worth
// of sums of four sources at a time are added up over the eight lanes that share the targets, and
// written to places of the item's own: no other warp adds to them.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_entries.cuh"
#include "fmbem/cuda/p2p_mutual.cuh"

namespace fmbem::cuda {
namespace {

/// Slots of one item, [mutual_results][..]; the results are `stride` apart.
template <class N>
struct Slots {
  N* sums;
  std::int64_t stride;

  template <bool Potential, bool Gradient>
  __device__ void write(std::int64_t slot, const Sums<N, Potential, Gradient>& sum) const {
    if constexpr (Potential) sums[slot] = sum.potential;
    if constexpr (Gradient) {
      N* const gradient = sums + Potential * stride + slot;
      gradient[0] = sum.x;
      gradient[stride] = sum.y;
      gradient[2 * stride] = sum.z;
    }
  }
  template <bool Potential, bool Gradient>
  __device__ void add_to(Sums<double, Potential, Gradient>& to, std::int64_t slot,
                         double ratio) const {
    if constexpr (Potential) to.potential += ratio * static_cast<double>(sums[slot]);
    if constexpr (Gradient) {
      const N* const gradient = sums + Potential * stride + slot;
      to.x += ratio * ratio * static_cast<double>(gradient[0]);
      to.y += ratio * ratio * static_cast<double>(gradient[stride]);
      to.z += ratio * ratio * static_cast<double>(gradient[2 * stride]);
    }
  }
};

/// Of two sums, lanes with the bit in their number keep the second and the others the first, each
/// with that of the lane that differs in this bit.
template <class N, bool Potential, bool Gradient>
__device__ inline Sums<N, Potential, Gradient> share(const Sums<N, Potential, Gradient>& first,
                                                     const Sums<N, Potential, Gradient>& second,
                                                     int bit) {
  const bool has = threadIdx.x & bit;
  const auto one = [&](N a, N b) {
    return (has ? b : a) + __shfl_xor_sync(whole_warp, has ? a : b, bit);
  };
  Sums<N, Potential, Gradient> kept;
  if constexpr (Potential) kept.potential = one(first.potential, second.potential);
  if constexpr (Gradient) {
    kept.x = one(first.x, second.x);
    kept.y = one(first.y, second.y);
    kept.z = one(first.z, second.z);
  }
  return kept;
}

/// One pair, both ways. In double precision potentials of g = 1/r may be summed −2 times as large,
/// as in add_tile().
template <int Terms, class Kernel, class N, bool Potential, bool Gradient>
__device__ inline void add_both_ways(const Kernel& kernel, const Vec3<N>& separation, N q_target,
                                     N q_source, Sums<N, Potential, Gradient>& target,
                                     Sums<N, Potential, Gradient>& source) {
  const N r2 = square(separation.x, separation.y, separation.z);
  if constexpr (is_halved<N, Kernel, false, Terms, false, Gradient>) {
    const N guess = root_guess(r2), g = guess * (r2 * (guess * guess) - 3);
    target.potential += q_source * g;
    source.potential += q_target * g;
  } else {
    fmm::add_mutual_pair<Potential, Gradient>(
        kernel.template radial<Terms>(r2, inverse_root<Terms>(r2)), q_source, q_target, separation,
        target, source);
  }
}

/// The targets of a lane, with their charges.
template <class N, int Each>
struct LaneTargets {
  N x[Each], y[Each], z[Each], charge[Each];
};

/// A tile's sources and a lane's targets, both ways; what sources get goes to the slots from
/// `first_slot` on.
template <int Terms, class Kernel, class N, bool Potential, bool Gradient, int Each>
__device__ inline void add_mutual_tile(const Kernel& kernel, const WarpShared<N, false>& shared,
                                       int filled, const LaneTargets<N, Each>& at,
                                       Sums<N, Potential, Gradient> (&sums)[Each],
                                       const Slots<N>& slots, std::int64_t first_slot) {
  constexpr int together = 4;  // sources of a group, between two exchanges
  constexpr bool halved = is_halved<N, Kernel, false, Terms, false, Gradient>;
  const int lane = threadIdx.x % warp_size, group = lane / group_lanes;
#pragma unroll 1
  for (int base = group; base < filled + group; base += together * groups) {
    Sums<N, Potential, Gradient> of_two[together / 2];
#pragma unroll
    for (int two = 0; two < together / 2; ++two) {
      Sums<N, Potential, Gradient> of_source[2];
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        const ChargedPoint<N> s = shared.places[base + (2 * two + u) * groups];
#pragma unroll
        for (int t = 0; t < Each; ++t)
          add_both_ways<Terms>(kernel, Vec3<N>{at.x[t] - s.x, at.y[t] - s.y, at.z[t] - s.z},
                               at.charge[t], s.charge, sums[t], of_source[u]);
      }
      of_two[two] = share(of_source[0], of_source[1], 1);
    }
    Sums<N, Potential, Gradient> sum = share(of_two[0], of_two[1], 2);
    sum = share(sum, sum, 4);
    if constexpr (halved) sum.potential *= N(-0.5);
    const int own = lane % group_lanes, source = base + own * groups;
    if (own < together && source < filled) slots.write(first_slot + source, sum);
  }
}

/// The item's targets and all points of later leaves.
template <int Terms, class Kernel, class N, bool Potential, bool Gradient, int Each>
__device__ inline void add_later(const NearArguments<N>& a, const MutualView& lists,
                                 const Kernel& kernel, const NearItem& item,
                                 const LaneTargets<N, Each>& at, WarpShared<N, false>& shared,
                                 Sums<double, Potential, Gradient> (&sums)[Each],
                                 const Slots<N>& slots) {
  constexpr bool single = sizeof(N) == 4,
                 halved = is_halved<N, Kernel, false, Terms, false, Gradient>;
  const MutualRow row = lists.rows[item.row];
  const std::int64_t end = lists.rows[item.row + 1].later_begin;
  std::int64_t slot =
      row.slot_begin + static_cast<std::int64_t>(item.part) * row.later_sources;
  if constexpr (halved)
    for (auto& sum : sums) sum.potential *= -2;
  for (std::int64_t begin = row.later_begin; begin < end; begin += warp_size) {
    const int n = static_cast<int>(min(end - begin, std::int64_t{warp_size}));
    Tiles<N, false> tiles(a, lists.later + begin, n, N(1), shared);
    int filled = 0;
    while (true) {
      const bool more = tiles.fetch();  // while the tile before is worked on
      if constexpr (single) {
        Sums<N, Potential, Gradient> tile_sums[Each];
        add_mutual_tile<Terms>(kernel, shared, filled, at, tile_sums, slots, slot);
#pragma unroll
        for (int t = 0; t < Each; ++t) sums[t].add(tile_sums[t]);
      } else {
        add_mutual_tile<Terms>(kernel, shared, filled, at, sums, slots, slot);
      }
      slot += filled;
      if (!more) break;
      filled = tiles.put();
    }
  }
  if constexpr (halved)
    for (auto& sum : sums) sum.potential *= -0.5;
}

template <class N, class Kernel, int Terms, bool Potential, bool Gradient, int Each>
__global__ void __launch_bounds__(threads_per_block)
    mutual_kernel(const __grid_constant__ NearArguments<N> a, const __grid_constant__ MutualView lists,
                  const __grid_constant__ Kernel in_tree, Slots<N> slots, std::int32_t first,
                  std::int32_t last) {
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

/// What earlier leaves owe to the points of each row, a warp a row.
template <class N, bool Potential, bool Gradient>
__global__ void __launch_bounds__(threads_per_block)
    add_earlier(const __grid_constant__ NearArguments<N> a, const __grid_constant__ MutualView lists,
                Slots<N> slots) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= lists.rows_count) return;
  const int2 own = a.tree.sources[a.leaves[row]];
  const std::int64_t begin = lists.rows[row].earlier_begin, end = lists.rows[row + 1].earlier_begin;
  double scale = 1;
  if constexpr (sizeof(N) == 4) scale = inverse_side(a, static_cast<std::int32_t>(row));
  for (int i = own.x + threadIdx.x % warp_size; i < own.y; i += warp_size) {
    Sums<double, Potential, Gradient> sum;
#pragma unroll 4
    for (std::int64_t k = begin; k < end; ++k) {
      const EarlierSums given = lists.earlier[k];
      slots.add_to(sum, given.slot + (i - own.x),
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
  const auto sum = exact_sums<false, Potential, Gradient>(a, near_kernel<double>(kernel), at.row,
                                                          at.target);
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
                   const DeviceBuffer<CloseTarget>& close, const Kernel& kernel,
                   const ItemClasses& classes, int root_terms, const cudaStream_t* streams,
                   const Event* joins) {
  for (int k = 1; k < most_targets_of_a_lane; ++k) wait_for(streams[k], joins[0], streams[0]);
  if (sizeof(N) == 4 || root_terms == 1)
    launch_mutual<1, Potential, Gradient>(a, lists, kernel, slots, classes, streams);
  else if constexpr (sizeof(N) == 8)
    launch_mutual<2, Potential, Gradient>(a, lists, kernel, slots, classes, streams);
  for (int k = 1; k < most_targets_of_a_lane; ++k) wait_for(streams[0], joins[k], streams[k]);
  launch(add_earlier<N, Potential, Gradient>, blocks_for(lists.rows_count, warps_per_block),
         threads_per_block, 0, streams[0], a, lists, slots);
  if constexpr (sizeof(N) == 4) {
    const auto n = static_cast<std::int64_t>(close.size());
    launch(repeat_close<Kernel, Potential, Gradient>, blocks_for(n, warps_per_block),
           threads_per_block, 0, streams[0], a, close.data(), n, kernel);
  }
}

}  // namespace

template <class N, class Kernel>
void p2p_mutual(NearArguments<N> a, const MutualView& lists, N* sums,
                const DeviceBuffer<CloseTarget>& close, const Kernel& kernel, int vectors,
                const ItemClasses& classes, int root_terms, const cudaStream_t* streams,
                const Event* joins) {
  const Slots<N> slots{sums, lists.slots};
  const bool potential = a.results.potential != nullptr;
  const bool gradient = a.results.gradient[0] != nullptr;
  const auto of = [&](auto with_potential, auto with_gradient) {
    mutual_vector<with_potential(), with_gradient()>(a, lists, slots, close, kernel, classes,
                                                     root_terms, streams, joins);
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

#define FMBEM_INSTANTIATE(N, Kernel)                                                           \
  template void p2p_mutual(NearArguments<N>, const MutualView&, N*,                            \
                           const DeviceBuffer<CloseTarget>&, const fmm::Kernel&, int,          \
                           const ItemClasses&, int, const cudaStream_t*, const Event*);
#define FMBEM_INSTANTIATE_BOTH(Kernel) \
  FMBEM_INSTANTIATE(double, Kernel)    \
  FMBEM_INSTANTIATE(float, Kernel)
FMBEM_FOR_EACH_KERNEL(FMBEM_INSTANTIATE_BOTH)
#undef FMBEM_INSTANTIATE_BOTH
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
