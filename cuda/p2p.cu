// P2P: a warp for up to 40 targets of a leaf. Its lanes are 4 groups of 8. The lanes of a group
// share the targets out, and the groups share out the sources. So the targets of a leaf are rounded
// up to a multiple of 8, and a source read from shared memory serves several targets.
//
// Sources of other leaves come in tiles without gaps (p2p_tiles.cuh). In single precision the loop
// over a tile does not look for sources that are too close: only those at the border of the
// targets' leaf can be, and they are found when they are put into the tile (p2p_close.cuh).
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_close.cuh"
#include "fmbem/cuda/p2p_sums.cuh"
#include "fmbem/cuda/p2p_tiles.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {
namespace {

/// Whether potentials are summed −2 times as large.
template <class N, class Kernel, bool Own, int Terms, bool Dipoles, bool Gradient>
constexpr bool is_halved = Kernel::homogeneous && sizeof(N) == 8 && !Own && Terms == 1 && !Dipoles
                           && !Gradient;

/// Adds a tile's sources to the sums of a lane's targets. In the leaf itself, in double precision,
/// a source may be where the target is.
template <bool Own, int Terms, bool Dipoles, class Kernel, class N, bool Potential, bool Gradient,
          int Each>
__device__ inline void add_tile(const Kernel& kernel, const WarpShared<N, Dipoles>& shared,
                                int filled, const N (&x)[Each], const N (&y)[Each],
                                const N (&z)[Each], Sums<N, Potential, Gradient> (&sums)[Each]) {
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
        } else if constexpr (is_halved<N, Kernel, Own, Terms, Dipoles, Gradient>) {
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
template <bool Own, int Terms, bool Dipoles, class Kernel, class N, bool Potential, bool Gradient,
          int Each>
__device__ inline unsigned long long add_entries(const NearArguments<N>& a, const Kernel& kernel,
                                                 std::int64_t begin, std::int64_t end, N to_leaf,
                                                 const N (&x)[Each], const N (&y)[Each],
                                                 const N (&z)[Each], WarpShared<N, Dipoles>& shared,
                                                 Sums<double, Potential, Gradient> (&sums)[Each]) {
  constexpr bool single = sizeof(N) == 4,
                 halved = is_halved<N, Kernel, Own, Terms, Dipoles, Gradient>;
  unsigned long long close = 0;
  if constexpr (halved)
    for (auto& sum : sums) sum.potential *= -2;
  for (; begin < end; begin += warp_size) {
    const int n = static_cast<int>(min(end - begin, std::int64_t{warp_size}));
    Tiles<N, Dipoles> tiles(a, begin, n, to_leaf, shared);
    int filled = 0;
    while (true) {
      const bool more = tiles.fetch();  // while the tile before is worked on
      if constexpr (single) {
        Sums<N, Potential, Gradient> tile_sums[Each];
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
  return ldexp(1 / a.root_side, level_of(a.tree.code[a.leaves[row]]));
}

/// The targets of one item, `Each` for a lane.
template <class N, int Terms, bool Dipoles, bool Potential, bool Gradient, int Each, class Kernel>
__device__ void near_item(const NearArguments<N>& a, const Kernel& in_tree, const NearItem& item,
                          WarpShared<N, Dipoles>& shared) {
  constexpr bool single = sizeof(N) == 4;
  const int lane = threadIdx.x % warp_size, group = lane / group_lanes;
  N x[Each], y[Each], z[Each], to_leaf = 1;
  Sums<double, Potential, Gradient> sums[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const int place = t * group_lanes + lane % group_lanes;
    const int i = item.first + min(place, item.count - 1);
    // Lanes without a target repeat the last one; in single precision they get one far away, as a
    // copy of the last would meet itself among the sources.
    const bool is = !single || place < item.count;
    x[t] = is ? a.targets.x[i] : N(100);
    y[t] = is ? a.targets.y[i] : N(100);
    z[t] = is ? a.targets.z[i] : N(100);
  }
  if constexpr (single && Dipoles) to_leaf = static_cast<float>(inverse_side(a, item.row));
  double unit = 1;  // of lengths in this item
  if constexpr (single && !Kernel::homogeneous) unit = 1 / inverse_side(a, item.row);
  const auto kernel = near_kernel<N>(in_unit(in_tree, unit));
  // The leaf itself is the first in its list.
  const int own_entries = a.lists.own_entries[item.row];
  unsigned long long close = 0;  // targets with a source too close for single precision
  if (own_entries > 0) {
    if constexpr (single) {
      const int2 own = a.tree.sources[a.leaves[item.row]];
      close = add_own_pairs<Dipoles, Potential, Gradient, Each>(a, kernel, item, own, to_leaf, x, y,
                                                                z, shared, sums);
    } else {
      const std::int64_t begin = a.lists.begin[item.row];
      add_entries<true, Terms, Dipoles>(a, kernel, begin, begin + own_entries, to_leaf, x, y, z,
                                        shared, sums);
    }
  }
  const std::int64_t begin = a.lists.begin[item.row], end = a.lists.begin[item.row + 1];
  close |= add_entries<false, Terms, Dipoles>(a, kernel, begin + own_entries, end, to_leaf, x, y, z,
                                              shared, sums);

  const auto write = [&](int i, double scale, const Sums<double, Potential, Gradient>& sum) {
    if constexpr (Potential) a.results.potential[item.first + i] = scale * sum.potential;
    if constexpr (Gradient) {
      a.results.gradient[0][item.first + i] = scale * scale * sum.x;
      a.results.gradient[1][item.first + i] = scale * scale * sum.y;
      a.results.gradient[2][item.first + i] = scale * scale * sum.z;
    }
  };
  double scale = 1;
  if constexpr (single) scale = inverse_side(a, item.row);
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    sums[t].add_up(group_lanes);
    const int i = t * group_lanes + lane % group_lanes;
    // The results of the t-th share are written by one group.
    if (group == t % groups && i < item.count) write(i, scale, sums[t]);
  }
  if constexpr (single) {
    if (close == 0) return;
    __syncwarp();  // what is written now comes after what was
    for (; close != 0; close &= close - 1) {
      const int i = __ffsll(static_cast<long long>(close)) - 1;
      const auto sum = exact_sums<Dipoles, Potential, Gradient>(a, near_kernel<double>(in_tree),
                                                                item.row, item.first + i);
      if (lane == 0) write(i, 1, sum);
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
