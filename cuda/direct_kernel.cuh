#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/p2p_sums.cuh"
#include "fmbem/cuda/pass.cuh"

// Direct sums: a block takes some targets, four a thread, and a part of the sources, tile by tile
// from shared memory. Where there are few targets, lanes share them and divide the sources.
//
// Tiles and the targets of a warp are neighbours in Morton order, and have bounding boxes. Pairs of
// boxes that are far enough apart are summed in the precision asked for, from coordinates about the
// points' centre; others in double precision, where pairs may coincide. So single precision loses
// no digits of close pairs.
#include <algorithm>

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda {

inline constexpr int tile_sources = threads_per_block, targets_of_a_thread = 4;
/// Blocks that a multiprocessor runs at a time, and so many times that are enough for all
/// multiprocessors to end at nearly the same time.
inline constexpr int blocks_at_a_time = 4, rounds = 8;

/// A bounding box, about the points' centre.
struct Bound {
  Vec3<float> low, high;
};

/// Square of the distance between two boxes.
__device__ inline float gap2(const Bound& a, const Bound& b) {
  const auto along = [](float a_low, float a_high, float b_low, float b_high) {
    return fmaxf(fmaxf(a_low - b_high, b_low - a_high), 0.f);
  };
  const float x = along(a.low.x, a.high.x, b.low.x, b.high.x),
              y = along(a.low.y, a.high.y, b.low.y, b.high.y),
              z = along(a.low.z, a.high.z, b.low.z, b.high.z);
  return x * x + y * y + z * z;
}

/// Of the boxes of all lanes.
__device__ inline Bound of_warp(Bound b) {
  for (int step = 1; step < warp_size; step *= 2) {
    const auto low = [&](float& x) { x = fminf(x, __shfl_xor_sync(whole_warp, x, step)); };
    const auto high = [&](float& x) { x = fmaxf(x, __shfl_xor_sync(whole_warp, x, step)); };
    low(b.low.x);
    low(b.low.y);
    low(b.low.z);
    high(b.high.x);
    high(b.high.y);
    high(b.high.z);
  }
  return b;
}

/// Coordinates about the centre, as arrays x, y and z.
static __global__ void centre_kernel(PointsView<double> points, Vec3d centre, float* out) {
  const std::int64_t k = thread_index();
  if (k >= points.count) return;
  out[k] = static_cast<float>(points.x[k] - centre.x);
  out[points.count + k] = static_cast<float>(points.y[k] - centre.y);
  out[2 * points.count + k] = static_cast<float>(points.z[k] - centre.z);
}

/// A warp for each tile.
static __global__ void bound_kernel(PointsView<float> sources, std::int64_t tiles, Bound* bounds) {
  const std::int64_t tile = thread_index() / warp_size;
  if (tile >= tiles) return;
  const int lane = threadIdx.x % warp_size;
  Bound b{{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
  const std::int64_t first = tile * tile_sources, end = min(first + tile_sources, sources.count);
  for (std::int64_t j = first + lane; j < end; j += warp_size) {
    b.low = {fminf(b.low.x, sources.x[j]), fminf(b.low.y, sources.y[j]),
             fminf(b.low.z, sources.z[j])};
    b.high = {fmaxf(b.high.x, sources.x[j]), fmaxf(b.high.y, sources.y[j]),
              fmaxf(b.high.z, sources.z[j])};
  }
  b = of_warp(b);
  if (lane == 0) bounds[tile] = b;
}

/// What the kernel works on. `places` and `dipoles` are about the centre in single precision.
template <class N>
struct DirectArguments {
  PointsView<double> exact_targets;
  PointsView<float> targets;
  std::int64_t sources;
  StrengthsView<N> strengths;
  StrengthsView<double> exact;
  const Bound* bounds;  ///< of the tiles
  float close2;         ///< square of the gap up to which pairs are summed in double precision
  double softening2;
  int lanes;  ///< of a warp, that have different targets
  std::int32_t tiles, tiles_of_a_part;
  int vectors;
  double* sums;    ///< as of PartsView, from the first component on that is summed
  int components;  ///< of a part
};

/// 1/√(r² + ε²) of a pair, 0 where it coincides.
template <int Terms, bool MayCoincide, class N>
__device__ inline N root_of_pair(N dx, N dy, N dz, N softening2, N& r2) {
  if constexpr (MayCoincide) {
    const N plain = square(dx, dy, dz);
    r2 = plain + softening2;
    return plain > 0 ? inverse_root<Terms>(r2) : N(0);
  } else {
    r2 = dz * dz + (dy * dy + (dx * dx + softening2));
    return inverse_root<Terms>(r2);
  }
}

/// Adds the sources of a tile from `first` on, in steps, to the sums of a thread's targets.
template <int Terms, bool MayCoincide, bool Dipoles, class N, class S, int Each>
__device__ inline void add_sources(const ChargedPoint<N>* places, const ChargedPoint<N>* dipoles,
                                   int first, int step, const Vec3<N> (&x)[Each], N softening2,
                                   S (&sums)[Each]) {
#pragma unroll 4
  for (int j = first; j < tile_sources; j += step) {
    const ChargedPoint<N> s = places[j];
    ChargedPoint<N> p{};
    if constexpr (Dipoles) p = dipoles[j];
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      const N dx = x[t].x - s.x, dy = x[t].y - s.y, dz = x[t].z - s.z;
      N r2;
      const N w = root_of_pair<Terms, MayCoincide>(dx, dy, dz, softening2, r2);
      sums[t].template add<Dipoles, 2>(fmm::Laplace(), s.charge, {p.x, p.y, p.z}, {dx, dy, dz}, r2,
                                       w);
    }
  }
}

/// A tile in shared memory.
template <class N, bool Dipoles>
struct DirectTile {
  ChargedPoint<N> places[tile_sources];
  ChargedPoint<N> dipoles[Dipoles ? tile_sources : 1];

  /// By the whole block. Places beyond the end have no effect.
  __device__ void load(const StrengthsView<N>& from, std::int64_t first, std::int64_t end) {
    const std::int64_t j = first + threadIdx.x, last = min(j, end - 1);
    places[threadIdx.x] = from.places[last];
    if (j >= end) places[threadIdx.x].charge = 0;
    if constexpr (Dipoles) dipoles[threadIdx.x] = j < end ? from.dipoles[last] : ChargedPoint<N>{};
  }
};

/// Of sums S, which are in double precision.
template <class N, int Terms, bool Dipoles, class S>
__global__ void __launch_bounds__(threads_per_block, blocks_at_a_time)
    direct_kernel(const __grid_constant__ DirectArguments<N> a) {
  constexpr int each = targets_of_a_thread;
  constexpr bool single = sizeof(N) == 4;
  __shared__ DirectTile<N, Dipoles> s_tile;
  __shared__ DirectTile<double, single && Dipoles> s_exact;  // in single precision alone
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t n = a.targets.count,
                     first = (static_cast<std::int64_t>(blockIdx.x) * warps_per_block + warp) *
                             a.lanes * each;
  const auto index = [&](int t) { return min(first + t * a.lanes + lane % a.lanes, n - 1); };
  Vec3<N> x[each];
  Bound bound{{1e30f, 1e30f, 1e30f}, {-1e30f, -1e30f, -1e30f}};
#pragma unroll
  for (int t = 0; t < each; ++t) {
    const std::int64_t i = index(t);
    const Vec3<float> place{a.targets.x[i], a.targets.y[i], a.targets.z[i]};
    if constexpr (single)
      x[t] = place;
    else
      x[t] = {a.exact_targets.x[i], a.exact_targets.y[i], a.exact_targets.z[i]};
    bound.low = {fminf(bound.low.x, place.x), fminf(bound.low.y, place.y),
                 fminf(bound.low.z, place.z)};
    bound.high = {fmaxf(bound.high.x, place.x), fmaxf(bound.high.y, place.y),
                  fmaxf(bound.high.z, place.z)};
  }
  bound = of_warp(bound);

  const int from = lane / a.lanes, step = warp_size / a.lanes, v = blockIdx.z;
  StrengthsView<N> strengths = a.strengths;
  StrengthsView<double> exact = a.exact;
  strengths.places += v * a.sources;
  exact.places += v * a.sources;
  if constexpr (Dipoles) {
    strengths.dipoles += v * a.sources;
    exact.dipoles += v * a.sources;
  }
  S sums[each];
  const std::int32_t begin = blockIdx.y * a.tiles_of_a_part,
                     end = min(begin + a.tiles_of_a_part, a.tiles);
  for (std::int32_t tile = begin; tile < end; ++tile) {
    const std::int64_t begin_source = static_cast<std::int64_t>(tile) * tile_sources;
    const bool close = first < n && gap2(bound, a.bounds[tile]) <= a.close2;
    __syncthreads();  // all are done with the one before
    s_tile.load(strengths, begin_source, a.sources);
    const bool any_close = __syncthreads_or(single && close);
    if constexpr (single) {
      if (any_close) {
        s_exact.load(exact, begin_source, a.sources);
        __syncthreads();
      }
    }
    if (first >= n) continue;
    if constexpr (single) {
      if (close) {
#pragma unroll
        for (int t = 0; t < each; ++t) {
          const std::int64_t i = index(t);
          const Vec3d place[1] = {
              {a.exact_targets.x[i], a.exact_targets.y[i], a.exact_targets.z[i]}};
          S sum[1];
          add_sources<1, true, Dipoles>(s_exact.places, s_exact.dipoles, from, step, place,
                                        a.softening2, sum);
          sums[t].add(sum[0]);
        }
      } else {
        typename S::template In<N> of_tile[each];
        add_sources<1, false, Dipoles>(s_tile.places, s_tile.dipoles, from, step, x,
                                       static_cast<N>(a.softening2), of_tile);
#pragma unroll
        for (int t = 0; t < each; ++t) sums[t].add(of_tile[t]);
      }
    } else if (close) {
      add_sources<Terms, true, Dipoles>(s_tile.places, s_tile.dipoles, from, step, x, a.softening2,
                                        sums);
    } else {
      add_sources<Terms, false, Dipoles>(s_tile.places, s_tile.dipoles, from, step, x, a.softening2,
                                         sums);
    }
  }

#pragma unroll
  for (int t = 0; t < each; ++t) {
    sums[t].add_up(a.lanes);
    const std::int64_t i = first + t * a.lanes + lane;
    if (lane >= a.lanes || i >= n) continue;
    double* const out =
        a.sums + (static_cast<std::int64_t>(blockIdx.y) * a.components * a.vectors + v) * n + i;
    const std::int64_t next = a.vectors * n;
#pragma unroll
    for (int component = 0; component < S::components; ++component)
      out[component * next] = sums[t][component];
  }
}

}  // namespace fmbem::cuda
