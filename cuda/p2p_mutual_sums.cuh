#pragma once

#include "fmbem/cuda/p2p_entries.cuh"
#include "fmbem/cuda/p2p_mutual.cuh"

// What one warp of P2P by Newton's third law sums. Its targets' charges are in registers besides
// what the plain near field has there. Sums of four sources at a time are added up over the eight
// lanes that share the targets, and written to places of the item's own, which no other warp
// writes.

namespace fmbem::cuda {

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
  if constexpr (is_halved<N, Kernel, false, Terms, false, Sums<N, Potential, Gradient>>) {
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
  constexpr bool halved = is_halved<N, Kernel, false, Terms, false, Sums<N, Potential, Gradient>>;
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
                 halved = is_halved<N, Kernel, false, Terms, false, Sums<N, Potential, Gradient>>;
  const MutualRow row = lists.rows[item.row];
  const std::int64_t end = row.later_begin + row.later;
  std::int64_t slot = row.slot_begin + static_cast<std::int64_t>(item.part) * row.later_sources;
  if constexpr (halved)
    for (auto& sum : sums) sum.potential *= -2;
  for (std::int64_t begin = row.later_begin; begin < end; begin += warp_size) {
    const int n = static_cast<int>(min(end - begin, std::int64_t{warp_size}));
    Tiles<N, false> tiles(a, a.lists.entries + begin, n, N(1), shared);
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

}  // namespace fmbem::cuda
