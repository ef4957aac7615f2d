#pragma once

#include "fmbem/cuda/p2p_close.cuh"
#include "fmbem/cuda/p2p_sums.cuh"
#include "fmbem/cuda/p2p_tiles.cuh"
#include "fmbem/cuda/pass.cuh"

// What one warp of the near field sums, whether each pair is summed once or in both directions.

namespace fmbem::cuda {

/// Whether potentials are summed −2 times as large.
template <class N, class Kernel, bool Own, int Terms, bool Dipoles, class S>
inline constexpr bool is_halved = Kernel::homogeneous && sizeof(N) == 8 && !Own && Terms == 1 &&
                                  !Dipoles && S::components == 1;

/// Adds a tile's sources to the sums S of a lane's targets. In the leaf itself, in double
/// precision, a source may be where the target is.
template <bool Own, int Terms, bool Dipoles, class Kernel, class N, class S, int Each>
__device__ inline void add_tile(const Kernel& kernel, const WarpShared<N, Dipoles>& shared,
                                int filled, const N (&x)[Each], const N (&y)[Each],
                                const N (&z)[Each], S (&sums)[Each]) {
  constexpr int together = Each > 4 ? 1 : 2;  // sources that are read at a time
#pragma unroll 1
  for (int j = threadIdx.x % warp_size / group_lanes; j < filled; j += groups * together) {
    ChargedPoint<N> source[together], dipole[together]{};
#pragma unroll
    for (int u = 0; u < together; ++u) {
      source[u] = shared.places[j + u * groups];
      if constexpr (Dipoles) dipole[u] = shared.dipoles[j + u * groups];
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
      const ChargedPoint<N> s = source[u];
      const Vec3<N> d{dipole[u].x, dipole[u].y, dipole[u].z};
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        const N dx = x[t] - s.x, dy = y[t] - s.y, dz = z[t] - s.z;
        const N r2 = square(dx, dy, dz);
        if constexpr (Own) {
          const N w = r2 > 0 ? inverse_root<Terms>(r2) : N(0);
          sums[t].template add<Dipoles, Terms>(kernel, s.charge, d, {dx, dy, dz}, r2, w);
        } else if constexpr (is_halved<N, Kernel, Own, Terms, Dipoles, S>) {
          // For g = 1/r: one step of Newton's, y (3 − r2 y²)/2, whose factor −½ is applied later,
          // which saves two operations.
          const N guess = root_guess(r2);
          sums[t].potential += (s.charge * guess) * (r2 * (guess * guess) - 3);
        } else {
          sums[t].template add<Dipoles, Terms>(kernel, s.charge, d, {dx, dy, dz}, r2,
                                               inverse_root<Terms>(r2));
        }
      }
    }
  }
}

/// Adds the sources of entries of a list, tile by tile. In single precision returns the targets
/// with a source too close for it.
template <bool Own, int Terms, bool Dipoles, class Kernel, class N, class S, int Each>
__device__ inline unsigned long long add_entries(const NearArguments<N>& a, const Kernel& kernel,
                                                 std::int64_t begin, std::int64_t end, N to_leaf,
                                                 const N (&x)[Each], const N (&y)[Each],
                                                 const N (&z)[Each], WarpShared<N, Dipoles>& shared,
                                                 S (&sums)[Each]) {
  constexpr bool single = sizeof(N) == 4, halved = is_halved<N, Kernel, Own, Terms, Dipoles, S>;
  unsigned long long close = 0;
  if constexpr (halved)
    for (auto& sum : sums) sum.potential *= -2;
  for (; begin < end; begin += warp_size) {
    const int n = static_cast<int>(min(end - begin, std::int64_t{warp_size}));
    Tiles<N, Dipoles> tiles(a, a.lists.entries + begin, n, to_leaf, shared);
    int filled = 0;
    while (true) {
      const bool more = tiles.fetch();  // while the tile before is worked on
      if constexpr (single) {
        typename S::template In<N> tile_sums[Each];
        add_tile<Own, Terms, Dipoles>(kernel, shared, filled, x, y, z, tile_sums);
#pragma unroll
        for (int t = 0; t < Each; ++t) sums[t].add(tile_sums[t]);
      } else {
        add_tile<Own, Terms, Dipoles>(kernel, shared, filled, x, y, z, sums);
      }
      if (!more) break;
      filled = tiles.put();
      if constexpr (single)
        close |= close_at_border<Each>(tiles.at_border(), shared.places, x, y, z);
    }
  }
  if constexpr (halved)
    for (auto& sum : sums) sum.potential *= -0.5;
  return close;
}

/// 1/side of the leaf of a row.
__device__ inline double inverse_side(const NearArguments<float>& a, std::int32_t row) {
  return ldexp(1 / a.root_side, a.tree.level(a.leaves[row]));
}

/// The targets of an item, `Each` for a lane. Lanes without a target repeat the last one; in single
/// precision they get one far away, as a copy of the last would meet itself among the sources.
template <int Each, class N>
__device__ inline void load_targets(const NearArguments<N>& a, const NearItem& item, N (&x)[Each],
                                    N (&y)[Each], N (&z)[Each]) {
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const int place = t * group_lanes + static_cast<int>(threadIdx.x) % group_lanes;
    const int i = item.first + min(place, item.count - 1);
    const bool is = sizeof(N) == 8 || place < item.count;
    x[t] = is ? a.targets.x[i] : N(100);
    y[t] = is ? a.targets.y[i] : N(100);
    z[t] = is ? a.targets.z[i] : N(100);
  }
}

/// Adds what the item's own leaf, the first in its list, gives. In single precision returns the
/// targets with a source too close for it.
template <int Terms, bool Dipoles, bool Potential, bool Gradient, int Each, class N, class Kernel>
__device__ inline unsigned long long add_leaf_itself(
    const NearArguments<N>& a, const Kernel& kernel, const NearItem& item, N to_leaf,
    const N (&x)[Each], const N (&y)[Each], const N (&z)[Each], WarpShared<N, Dipoles>& shared,
    Sums<double, Potential, Gradient> (&sums)[Each]) {
  const int own_entries = a.lists.own_entries[item.row];
  if (own_entries == 0) return 0;
  if constexpr (sizeof(N) == 4) {
    const int2 own = a.tree.sources[a.leaves[item.row]];
    return add_own_pairs<Dipoles, Potential, Gradient, Each>(a, kernel, item, own, to_leaf, x, y, z,
                                                             shared, sums);
  } else {
    const std::int64_t begin = a.lists.begin[item.row];
    return add_entries<true, Terms, Dipoles>(a, kernel, begin, begin + own_entries, to_leaf, x, y,
                                             z, shared, sums);
  }
}

/// Writes the sums of the item's i-th target, with lengths in units of 1/scale.
template <bool Potential, bool Gradient, class N>
__device__ inline void write_sums(const NearArguments<N>& a, int target, double scale,
                                  const Sums<double, Potential, Gradient>& sum) {
  if constexpr (Potential) a.results.potential[target] = scale * sum.potential;
  if constexpr (Gradient) {
    a.results.gradient[0][target] = scale * scale * sum.x;
    a.results.gradient[1][target] = scale * scale * sum.y;
    a.results.gradient[2][target] = scale * scale * sum.z;
  }
}

__device__ inline void write_sums(const NearArguments<double>& a, int target, double /*scale*/,
                                  const HessianSums<double>& sum) {
#pragma unroll
  for (int k = 0; k < sum.components; ++k) a.results.hessian[k][target] = sum[k];
}

/// Adds up the sums of an item's targets over the groups, and writes them.
template <class S, int Each, class N>
__device__ inline void write_item(const NearArguments<N>& a, const NearItem& item, double scale,
                                  S (&sums)[Each]) {
  const int lane = threadIdx.x % warp_size;
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    sums[t].add_up(group_lanes);
    const int i = t * group_lanes + lane % group_lanes;
    // The results of the t-th share are written by one group.
    if (lane / group_lanes == t % groups && i < item.count)
      write_sums(a, item.first + i, scale, sums[t]);
  }
}

}  // namespace fmbem::cuda
