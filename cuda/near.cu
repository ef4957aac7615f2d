// P2P: a warp for up to 64 targets of a leaf. Its lanes are 4 groups of 8: the lanes of a group
// take the same targets' share, and the groups divide the sources between them. So the targets of a
// leaf are rounded up to a multiple of 8, and a source read from shared memory serves several
// targets.
#include <type_traits>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {
namespace {

constexpr int groups = warp_size / group_lanes;

/// Sources are taken to shared memory in tiles of a few chunks, each of up to 32 of one leaf. While
/// a tile is worked on the next one is on its way to registers. In single precision the sums of
/// tiles are added up in double precision, so that none is long.
template <class N>
constexpr int chunks = sizeof(N) == 4 ? 4 : 2;
template <class N>
constexpr int tile_size = chunks<N>* warp_size;

/// Targets with a source closer than these, in sides of their leaf and squared, are done once more
/// in double precision when the near field works in single: rounding coordinates would show. In
/// other leaves to 2^-24; in the leaf itself, where they come in two parts, to 2^-48.
constexpr float close_r2 = 0x1p-16f, close_r2_in_leaf = 0x1p-40f;
/// Added to squares of distances in single precision, so that no root is of zero.
constexpr float least_r2 = 1e-20f;

/// 1/√r2 from the hardware's first guess: in single precision as it is, in double precision, where
/// it has some 20 bits, with terms of the series of (1 − e)^(−1/2), e = 1 − r2 y².
template <int Terms>
__device__ inline float inverse_root(float r2) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(r2));
  return y;
#else
  return rsqrtf(r2);
#endif
}
__device__ inline double root_guess(double r2) {
#ifdef __CUDA_ARCH__
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(r2));
  return y;
#else
  return rsqrtf(static_cast<float>(r2));
#endif
}
template <int Terms>
__device__ inline double inverse_root(double r2) {
  const double y = root_guess(r2);
  const double e = 1 - r2 * (y * y);
  if constexpr (Terms == 1) return y + (0.5 * y) * e;
  return y + (y * e) * (0.5 + 0.375 * e);
}

__device__ inline float square(float dx, float dy, float dz) {
  return dz * dz + (dy * dy + (dx * dx + least_r2));
}
__device__ inline double square(double dx, double dy, double dz) {
  return dx * dx + dy * dy + dz * dz;
}

/// Sums of one target: potential and gradient.
template <class N, bool Potential, bool Gradient>
struct Sums {
  N potential = 0, x = 0, y = 0, z = 0;

  /// Adds q/r + d·(x − y)/r³ and its gradient, w = 1/r.
  template <bool Dipoles>
  __device__ void add(N q, const N* d, N dx, N dy, N dz, N w) {
    if constexpr (!Dipoles) {
      const N qw = q * w;
      if constexpr (Potential) potential += qw;
      if constexpr (Gradient) {
        const N f = qw * (w * w);
        x -= f * dx;
        y -= f * dy;
        z -= f * dz;
      }
    } else {
      const N w2 = w * w, pd = (d[0] * dx + d[1] * dy + d[2] * dz) * w2;
      if constexpr (Potential) potential += (q + pd) * w;
      if constexpr (Gradient) {
        const N w3 = w2 * w, f = (q + N(3) * pd) * w3;
        x += d[0] * w3 - f * dx;
        y += d[1] * w3 - f * dy;
        z += d[2] * w3 - f * dz;
      }
    }
  }
  /// Over the lanes whose numbers differ by multiples of `step`; all of them get the sums.
  __device__ void add_up(int first_step) {
    for (int step = first_step; step < warp_size; step *= 2) {
      if constexpr (Potential) potential += __shfl_xor_sync(whole_warp, potential, step);
      if constexpr (Gradient) {
        x += __shfl_xor_sync(whole_warp, x, step);
        y += __shfl_xor_sync(whole_warp, y, step);
        z += __shfl_xor_sync(whole_warp, z, step);
      }
    }
  }
  template <class M>
  __device__ void add(const Sums<M, Potential, Gradient>& other) {
    if constexpr (Potential) potential += static_cast<N>(other.potential);
    if constexpr (Gradient) {
      x += static_cast<N>(other.x);
      y += static_cast<N>(other.y);
      z += static_cast<N>(other.z);
    }
  }
};

/// What a kernel gets.
template <class N>
struct NearArguments {
  PointsView<N> sources, targets;
  StrengthsView<N> strengths;
  TreeView tree;
  double root_side;
  const std::int32_t* leaves;
  NearListsView lists;
  const NearItem* items;
  bool same;
  NearView results;
};

/// Shared memory of a warp.
template <class N, bool Dipoles>
struct WarpShared {
  Place<N> places[tile_size<N>];
  Place<N> dipoles[Dipoles ? tile_size<N> : 1];
  /// Of the entries of the list, two times 32 in turn: begin and count; what takes sources to the
  /// target's leaf, with the ratio.
  int2 range[2 * warp_size];
  Place<float> shift[2 * warp_size];
};

/// Sources of entries of a list, tile by tile: in single precision their coordinates, and with it
/// their dipoles, are in the units of the target's leaf.
template <class N, bool Dipoles>
class Tiles {
 public:
  /// Of the entries from `begin` to `end`.
  __device__ Tiles(const NearArguments<N>& a, std::int64_t begin, std::int64_t end, double to_leaf,
                   WarpShared<N, Dipoles>& shared)
      : entries_(a.lists.entries + begin),
        left_(static_cast<int>(end - begin)),
        places_(a.strengths.places),
        dipoles_(a.strengths.dipoles),
        to_leaf_(static_cast<N>(to_leaf)),
        shared_(shared) {}

  /// Sends for the next tile.
  __device__ void fetch() {
    const int lane = threadIdx.x % warp_size;
    if (known_ - entry_ < static_cast<unsigned>(chunks<N>) && left_ > 0) load_entries(lane);
#pragma unroll
    for (int c = 0; c < chunks<N>; ++c) {
      size_[c] = 0;
      if (entry_ == known_) continue;
      of_[c] = entry_ % (2 * warp_size);
      const int2 range = shared_.range[of_[c]];
      first_[c] = range.x + done_;
      size_[c] = min(range.y - done_, warp_size);
      if (lane < size_[c]) source_[c] = places_[static_cast<unsigned>(first_[c] + lane)];
      done_ += warp_size;
      if (done_ < range.y) continue;
      done_ = 0;
      ++entry_;
    }
  }

  /// Puts it to shared memory; returns how many places it has, a multiple of the groups; 0 at the
  /// end.
  __device__ int put() {
    const int lane = threadIdx.x % warp_size;
    int filled = 0;
    __syncwarp();  // all are done with the one before
#pragma unroll
    for (int c = 0; c < chunks<N>; ++c) {
      if (lane < size_[c]) {
        Place<N> source = source_[c];
        if constexpr (sizeof(N) == 4) {
          const Place<float> shift = shared_.shift[of_[c]];
          const float ratio = shift.charge;
          source.x = ratio * source.x + shift.x;
          source.y = ratio * source.y + shift.y;
          source.z = ratio * source.z + shift.z;
        }
        shared_.places[filled + lane] = source;
        if constexpr (Dipoles) {
          const Place<N> d = dipoles_[static_cast<unsigned>(first_[c] + lane)];
          shared_.dipoles[filled + lane] = {to_leaf_ * d.x, to_leaf_ * d.y, to_leaf_ * d.z, N(0)};
        }
      }
      filled += size_[c];
    }
    const int padded = (filled + groups - 1) / groups * groups;
    if (lane < padded - filled) {
      // Far away and without strength.
      shared_.places[filled + lane] = {N(1e15), N(1e15), N(1e15), N(0)};
      if constexpr (Dipoles) shared_.dipoles[filled + lane] = {N(0), N(0), N(0), N(0)};
    }
    __syncwarp();
    return padded;
  }

 private:
  __device__ void load_entries(int lane) {
    const int more = min(left_, warp_size);
    if (lane < more) {
      const NearEntry entry = entries_[known_ + lane];
      const unsigned place = (known_ + lane) % (2 * warp_size);
      shared_.range[place] = make_int2(entry.begin, entry.count);
      shared_.shift[place] = {0.25f * static_cast<float>(entry.shift[0]),
                              0.25f * static_cast<float>(entry.shift[1]),
                              0.25f * static_cast<float>(entry.shift[2]),
                              entry.doublings > 0   ? 2.f
                              : entry.doublings < 0 ? 0.5f
                                                    : 1.f};
    }
    __syncwarp();
    known_ += more;
    left_ -= more;
  }

  const NearEntry* entries_;
  int left_;
  const Place<N>*places_, *dipoles_;
  N to_leaf_;
  WarpShared<N, Dipoles>& shared_;
  unsigned entry_ = 0, known_ = 0;  ///< entries that were sent for, and that are in shared memory
  int done_ = 0;                    ///< sources of the next entry that were sent for
  Place<N> source_[chunks<N>];
  int first_[chunks<N>], size_[chunks<N>], of_[chunks<N>];
};

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
      double dipole[3] = {};
      if constexpr (Dipoles)
        for (int axis = 0; axis < 3; ++axis)
          dipole[axis] = axis == 0   ? a.strengths.dipoles[j].x
                         : axis == 1 ? a.strengths.dipoles[j].y
                                     : a.strengths.dipoles[j].z;
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
