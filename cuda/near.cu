// P2P: a warp for up to 64 targets of a leaf. Its lanes are 4 groups of 8: the lanes of a group
// take the same targets' share, and the groups divide the sources between them. So the targets of a
// leaf are rounded up to a multiple of 8, and a source read from shared memory serves several
// targets.
#include <type_traits>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/near_sums.cuh"
#include "fmbem/cuda/near_tiles.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {
namespace {

/// Targets with a source closer than these, in sides of their leaf and squared, are done once more
/// in double precision when the near field works in single: rounding coordinates would show. In
/// other leaves to 2^-24; in the leaf itself, where they come in two parts, to 2^-48.
constexpr float close_r2 = 0x1p-16f, close_r2_in_leaf = 0x1p-40f;

/// All pairs of one target in double precision, by the whole warp; every lane gets the sums. Not
/// inlined, as it is rarely called.
template <bool Dipoles, bool Potential, bool Gradient>
__device__ __attribute__((noinline)) Sums<double, Potential, Gradient> exact_sums(
    const NearArguments<float>& a, std::int32_t row, std::int32_t target) {
  const int lane = threadIdx.x % warp_size;
  const double x = a.targets.exact_x[target], y = a.targets.exact_y[target],
               z = a.targets.exact_z[target];
  Sums<double, Potential, Gradient> sums;
  for (std::int64_t e = a.lists.begin[row]; e < a.lists.begin[row + 1]; ++e) {
    const NearEntry entry = a.lists.entries[e];
    for (std::int64_t j = entry.begin + lane; j < entry.begin + entry.count; j += warp_size) {
      const double dx = x - a.sources.exact_x[j], dy = y - a.sources.exact_y[j],
                   dz = z - a.sources.exact_z[j], r2 = square(dx, dy, dz);
      Place<float> d{};
      if constexpr (Dipoles) d = a.strengths.dipoles[j];
      const double dipole[3] = {d.x, d.y, d.z};
      const double q = a.strengths.places[j].charge;
      if (r2 > 0) sums.template add<Dipoles>(q, dipole, dx, dy, dz, 1 / sqrt(r2));
    }
  }
  sums.add_up(1);
  return sums;
}

/// Adds a tile's sources to the sums of a lane's targets, and remembers the nearest. In the leaf
/// itself, in double precision, a source may be where the target is.
template <bool Own, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each, class N>
__device__ inline void add_tile(const WarpShared<N, Dipoles>& shared, int filled, const N* x,
                                const N* y, const N* z, Sums<N, Potential, Gradient>* sums,
                                N* nearest) {
#pragma unroll(Each > 4 ? 1 : 2)
  for (int j = threadIdx.x % warp_size / group_lanes; j < filled; j += groups) {
    const Place<N> s = shared.places[j];
    N d[3];
    if constexpr (Dipoles) {
      const Place<N> dipole = shared.dipoles[j];
      d[0] = dipole.x;
      d[1] = dipole.y;
      d[2] = dipole.z;
    }
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      const N dx = x[t] - s.x, dy = y[t] - s.y, dz = z[t] - s.z;
      const N r2 = square(dx, dy, dz);
      if constexpr (sizeof(N) == 4) nearest[t] = fminf(nearest[t], r2);
      if constexpr (Own) {
        const N w = r2 > 0 ? inverse_root<Terms>(r2) : N(0);
        sums[t].template add<Dipoles>(s.charge, d, dx, dy, dz, w);
      } else if constexpr (sizeof(N) == 8 && Terms == 1 && Potential && !Gradient && !Dipoles) {
        // A step of Newton's, y (3 − r2 y²)/2, of which −½ is added later: two operations less.
        const N guess = root_guess(r2);
        sums[t].potential += (s.charge * guess) * (r2 * (guess * guess) - 3);
      } else {
        sums[t].template add<Dipoles>(s.charge, d, dx, dy, dz, inverse_root<Terms>(r2));
      }
    }
  }
}

/// The leaf's own sources in single precision, with coordinates in two parts.
template <bool Dipoles, bool Potential, bool Gradient, int Each>
__device__ inline void add_own_leaf(const NearArguments<float>& a, const NearItem& item, int2 own,
                                    double to_leaf, const float* x, const float* y, const float* z,
                                    WarpShared<float, Dipoles>& shared,
                                    Sums<double, Potential, Gradient>* sums, float* nearest) {
  const int lane = threadIdx.x % warp_size, group = lane / group_lanes;
  float low_x[Each], low_y[Each], low_z[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const int i = item.first + min(t * group_lanes + lane % group_lanes, item.count - 1);
    low_x[t] = a.targets.low_x[i];
    low_y[t] = a.targets.low_y[i];
    low_z[t] = a.targets.low_z[i];
  }
  // Which of the sources the first target is; none if these are other points.
  int itself = a.same ? item.first + lane % group_lanes - own.x : -0x40000000;
  // Half of the places are for the lower parts.
  constexpr int size = tile_size<float> / 2;
  const auto scale = static_cast<float>(to_leaf);
  for (int done = own.x; done < own.y; done += size, itself -= size) {
    const int take = min(own.y - done, size);
    __syncwarp();
    for (int i = lane; i < take; i += warp_size) {
      const std::int64_t j = done + i;
      shared.places[i] = a.strengths.places[j];
      shared.places[size + i] = {a.sources.low_x[j], a.sources.low_y[j], a.sources.low_z[j], 0.f};
      if constexpr (Dipoles) shared.dipoles[i] = a.strengths.dipoles[j];
    }
    __syncwarp();
    Sums<float, Potential, Gradient> tile_sums[Each];
#pragma unroll 1
    for (int j = group; j < take; j += groups) {
      const Place<float> s = shared.places[j], low = shared.places[size + j];
      float d[3];
      if constexpr (Dipoles) {
        const Place<float> dipole = shared.dipoles[j];
        d[0] = scale * dipole.x;
        d[1] = scale * dipole.y;
        d[2] = scale * dipole.z;
      }
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        const float dx = (x[t] - s.x) + (low_x[t] - low.x), dy = (y[t] - s.y) + (low_y[t] - low.y),
                    dz = (z[t] - s.z) + (low_z[t] - low.z);
        const float r2 = square(dx, dy, dz);
        float w = inverse_root<1>(r2);
        if (j == itself + t * group_lanes)
          w = 0;
        else
          nearest[t] = fminf(nearest[t], r2);
        tile_sums[t].template add<Dipoles>(s.charge, d, dx, dy, dz, w);
      }
    }
#pragma unroll
    for (int t = 0; t < Each; ++t) sums[t].add(tile_sums[t]);
  }
}

/// Bit t·8 + lane of the targets whose nearest source, over the groups, is closer than the bound.
template <int Each>
__device__ inline unsigned long long closer(const float* nearest, float bound) {
  unsigned long long close = 0;
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const unsigned lanes = __ballot_sync(whole_warp, nearest[t] < bound);
    const unsigned any = lanes | lanes >> 8 | lanes >> 16 | lanes >> 24;
    close |= static_cast<unsigned long long>(any & 0xff) << t * group_lanes;
  }
  return close;
}

/// Adds the sources of entries of a list, tile by tile.
template <bool Own, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each, class N>
__device__ inline void add_entries(const NearArguments<N>& a, std::int64_t begin, std::int64_t end,
                                   double to_leaf, const N* x, const N* y, const N* z,
                                   WarpShared<N, Dipoles>& shared,
                                   Sums<double, Potential, Gradient>* sums, N* nearest) {
  constexpr bool halved =
      !Own && sizeof(N) == 8 && Terms == 1 && Potential && !Gradient && !Dipoles;
  Tiles<N, Dipoles> tiles(a, begin, end, to_leaf, shared);
  int filled = 0;
  do {
    tiles.fetch();  // while the tile before is worked on
    Sums<N, Potential, Gradient> tile_sums[Each];
    add_tile<Own, Terms, Dipoles, Potential, Gradient, Each>(shared, filled, x, y, z, tile_sums,
                                                             nearest);
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      if (halved) tile_sums[t].potential *= N(-0.5);
      sums[t].add(tile_sums[t]);
    }
    filled = tiles.put();
  } while (filled > 0);
}

/// The targets of one item, `Each` for a lane.
template <class N, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each>
__device__ void near_item(const NearArguments<N>& a, const NearItem& item,
                          WarpShared<N, Dipoles>& shared) {
  constexpr bool single = sizeof(N) == 4;
  const int lane = threadIdx.x % warp_size, group = lane / group_lanes;
  const double to_leaf =
      single ? ldexp(1 / a.root_side, level_of(a.tree.code[a.leaves[item.row]])) : 1;
  N x[Each], y[Each], z[Each], nearest[Each];
  Sums<double, Potential, Gradient> sums[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const int i = item.first + min(t * group_lanes + lane % group_lanes, item.count - 1);
    x[t] = a.targets.x[i];
    y[t] = a.targets.y[i];
    z[t] = a.targets.z[i];
    nearest[t] = 1;
  }
  const std::int64_t begin = a.lists.begin[item.row], end = a.lists.begin[item.row + 1];
  // The leaf itself is the first in its list.
  const int own_entries = a.lists.own_entries[item.row];
  add_entries<false, Terms, Dipoles, Potential, Gradient, Each>(
      a, begin + own_entries, end, to_leaf, x, y, z, shared, sums, nearest);
  unsigned long long close = 0;  // targets with a source too close for single precision
  if constexpr (single) close = closer<Each>(nearest, close_r2);
  if (own_entries > 0) {
    if constexpr (single) {
#pragma unroll
      for (int t = 0; t < Each; ++t) nearest[t] = 1;
      add_own_leaf<Dipoles, Potential, Gradient, Each>(a, item, a.tree.sources[a.leaves[item.row]],
                                                       to_leaf, x, y, z, shared, sums, nearest);
      close |= closer<Each>(nearest, close_r2_in_leaf);
    } else {
      add_entries<true, Terms, Dipoles, Potential, Gradient, Each>(
          a, begin, begin + own_entries, to_leaf, x, y, z, shared, sums, nearest);
    }
  }

  const auto write = [&](int i, double scale, const Sums<double, Potential, Gradient>& sum) {
    if constexpr (Potential) a.results.potential[item.first + i] = scale * sum.potential;
    if constexpr (Gradient) {
      a.results.gradient[0][item.first + i] = scale * scale * sum.x;
      a.results.gradient[1][item.first + i] = scale * scale * sum.y;
      a.results.gradient[2][item.first + i] = scale * scale * sum.z;
    }
  };
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    sums[t].add_up(group_lanes);
    const int i = t * group_lanes + lane % group_lanes;
    // The results of the t-th share are written by one group.
    if (group == t % groups && i < item.count) write(i, to_leaf, sums[t]);
  }
  if constexpr (single) {
    if (item.count < 64) close &= (1ull << item.count) - 1;
    if (close == 0) return;
    __syncwarp();  // what is written now comes after what was
    for (; close != 0; close &= close - 1) {
      const int i = __ffsll(static_cast<long long>(close)) - 1;
      const auto sum = exact_sums<Dipoles, Potential, Gradient>(a, item.row, item.first + i);
      if (lane == 0) write(i, 1, sum);
    }
  }
}

/// Blocks of an SM that the registers are to suffice for.
constexpr int blocks_of_a_processor(bool potential_in_single, int each) {
  return !potential_in_single ? 4 : each <= 3 ? 7 : each <= 4 ? 6 : each <= 6 ? 5 : 4;
}

/// Items with `Each` targets a lane, from `first` on.
template <class N, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each>
__global__ void __launch_bounds__(threads_per_block,
                                  blocks_of_a_processor(sizeof(N) == 4 && !Gradient && !Dipoles,
                                                        Each))
    near_kernel(const __grid_constant__ NearArguments<N> a, std::int32_t first, std::int32_t last) {
  __shared__ WarpShared<N, Dipoles> s_of_warp[warps_per_block];
  const int warp = threadIdx.x / warp_size;
  const std::int32_t i = first + static_cast<std::int32_t>(blockIdx.x) * warps_per_block + warp;
  if (i >= last) return;
  near_item<N, Terms, Dipoles, Potential, Gradient, Each>(a, a.items[i], s_of_warp[warp]);
}

template <class N, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each>
void launch_classes(const NearArguments<N>& a, const ItemClasses& classes,
                    const cudaStream_t* streams) {
  const std::int32_t first = classes.begin[Each], last = classes.begin[Each + 1];
  launch(near_kernel<N, Terms, Dipoles, Potential, Gradient, Each>,
         blocks_for(last - first, warps_per_block), threads_per_block, 0, streams[Each - 1], a,
         first, last);
  if constexpr (Each * group_lanes < most_targets_of_a_warp(sizeof(N) == 4, Gradient))
    launch_classes<N, Terms, Dipoles, Potential, Gradient, Each + 1>(a, classes, streams);
}

template <class N, int Terms, bool Dipoles>
void launch_near(const NearArguments<N>& a, const ItemClasses& classes,
                 const cudaStream_t* streams) {
  const bool potential = a.results.potential != nullptr;
  const bool gradient = a.results.gradient[0] != nullptr;
  if (potential && gradient)
    launch_classes<N, Terms, Dipoles, true, true, 1>(a, classes, streams);
  else if (potential)
    launch_classes<N, Terms, Dipoles, true, false, 1>(a, classes, streams);
  else
    launch_classes<N, Terms, Dipoles, false, true, 1>(a, classes, streams);
}

template <class N, int Terms>
void launch_near(const NearArguments<N>& a, const ItemClasses& classes,
                 const cudaStream_t* streams) {
  if (a.strengths.dipoles)
    launch_near<N, Terms, true>(a, classes, streams);
  else
    launch_near<N, Terms, false>(a, classes, streams);
}

}  // namespace

template <class N>
void p2p(const PointsView<N>& sources, const PointsView<N>& targets,
         const StrengthsView<N>& strengths, int vectors, const TreeView& tree, double root_side,
         const std::int32_t* leaves, const NearListsView& lists, const NearItem* items,
         const ItemClasses& classes, bool same, int root_terms, const NearView& results,
         const cudaStream_t* streams) {
  NearArguments<N> a{sources, targets, strengths, tree, root_side,
                     leaves,  lists,   items,     same, results};
  for (int v = 0; v < vectors; ++v) {
    if (sizeof(N) == 4 || root_terms == 1)
      launch_near<N, 1>(a, classes, streams);
    else if constexpr (sizeof(N) == 8)
      launch_near<N, 2>(a, classes, streams);
    a.strengths.places += sources.count;
    if (a.strengths.dipoles) a.strengths.dipoles += sources.count;
    if (a.results.potential) a.results.potential += targets.count;
    for (double*& component : a.results.gradient)
      if (component) component += targets.count;
  }
}

#define FMBEM_INSTANTIATE(N)                                                                  \
  template void p2p(const PointsView<N>&, const PointsView<N>&, const StrengthsView<N>&, int, \
                    const TreeView&, double, const std::int32_t*, const NearListsView&,       \
                    const NearItem*, const ItemClasses&, bool, int, const NearView&,          \
                    const cudaStream_t*);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
