#pragma once

#include <cmath>

#include "fmbem/cuda/p2p_sums.cuh"
#include "fmbem/cuda/p2p_tiles.cuh"

// Pairs for which the near field in single precision would lose digits.

namespace fmbem::cuda {

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

/// The targets to which a source of a tile is closer than close_r2. Only sources at the border of
/// their leaf (Tiles::at_border) can be, so that the sums need not look for them.
template <int Each>
__device__ inline unsigned long long close_at_border(unsigned at_border,
                                                     const ChargedPoint<float>* places,
                                                     const float* x, const float* y,
                                                     const float* z) {
  if (!__any_sync(whole_warp, at_border != 0)) return 0;
  float nearest[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) nearest[t] = 1;
#pragma unroll 1
  for (int c = 0; c < chunks<float>; ++c) {
#pragma unroll 1
    for (unsigned left = __ballot_sync(whole_warp, at_border >> c & 1); left != 0;
         left &= left - 1) {
      const ChargedPoint<float> s = places[c * warp_size + __ffs(static_cast<int>(left)) - 1];
#pragma unroll
      for (int t = 0; t < Each; ++t)
        nearest[t] = fminf(nearest[t], square(x[t] - s.x, y[t] - s.y, z[t] - s.z));
    }
  }
  return closer<Each>(nearest, close_r2);
}

/// Coordinates of pairs within a leaf are taken in two parts if they are closer; in the potential
/// rounding shows less than in first derivatives.
template <bool Dipoles, bool Gradient>
inline constexpr float close_r2_in_leaf = Dipoles || Gradient ? 0x1p-10f : 0x1p-12f;
/// In parts they are known to 2^-48; what is closer than this is done in double precision.
inline constexpr float close_r2_in_parts = 0x1p-40f;

/// Which of the sources of its own leaf a target is; none if the sources are other points.
__device__ inline int own_place(const NearArguments<float>& a, int target, int2 own) {
  return a.same ? target - own.x : -0x40000000;
}

/// Close pairs that a lane has found: how many of each target, and a source of one of them.
template <int Each>
struct FoundPairs {
  int count[Each] = {}, source[Each];
};

/// Adds the sources of the targets' own leaf. With Parts, coordinates are in two parts, and the
/// result is the targets with a source that is too close even so; else close pairs are left out and
/// noted in `found`.
template <bool InParts, bool Dipoles, bool Potential, bool Gradient, int Each, class Kernel>
__device__ inline unsigned long long add_own_leaf(const NearArguments<float>& a,
                                                  const Kernel& kernel, const NearItem& item,
                                                  int2 own, float to_leaf, const float* x,
                                                  const float* y, const float* z,
                                                  WarpShared<float, Dipoles>& shared,
                                                  Sums<double, Potential, Gradient>* sums,
                                                  FoundPairs<Each>& found) {
  // Half of the places are for the lower parts.
  constexpr int size = tile_size<float> / (InParts ? 2 : 1);
  const int lane = threadIdx.x % warp_size;
  float nearest[InParts ? Each : 1], low_x[InParts ? Each : 1], low_y[InParts ? Each : 1],
      low_z[InParts ? Each : 1];
  if constexpr (InParts) {
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      nearest[t] = 1;
      const int i = item.first + min(t * group_lanes + lane % group_lanes, item.count - 1);
      low_x[t] = a.targets.low_x[i];
      low_y[t] = a.targets.low_y[i];
      low_z[t] = a.targets.low_z[i];
    }
  }
  int itself = own_place(a, item.first + lane % group_lanes, own);  // the first target
  for (int done = own.x; done < own.y; done += size, itself -= size) {
    const int take = min(own.y - done, size);
    __syncwarp();
    for (int i = lane; i < take; i += warp_size) {
      const std::int64_t j = done + i;
      shared.places[i] = a.strengths.places[j];
      if constexpr (InParts)
        shared.places[size + i] = {a.sources.low_x[j], a.sources.low_y[j], a.sources.low_z[j], 0.f};
      if constexpr (Dipoles) {
        const ChargedPoint<float> d = a.strengths.dipoles[j];
        shared.dipoles[i] = {to_leaf * d.x, to_leaf * d.y, to_leaf * d.z, 0.f};
      }
    }
    __syncwarp();
    Sums<float, Potential, Gradient> tile_sums[Each];
#pragma unroll 1
    for (int j = lane / group_lanes; j < take; j += groups) {
      const ChargedPoint<float> s = shared.places[j];
      ChargedPoint<float> low{}, dipole{};
      if constexpr (InParts) low = shared.places[size + j];
      if constexpr (Dipoles) dipole = shared.dipoles[j];
      const Vec3<float> d{dipole.x, dipole.y, dipole.z};
      const int from_itself = itself - j;
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        const bool is_itself = from_itself == -t * group_lanes;
        float dx = x[t] - s.x, dy = y[t] - s.y, dz = z[t] - s.z;
        if constexpr (InParts) {
          dx += low_x[t] - low.x;
          dy += low_y[t] - low.y;
          dz += low_z[t] - low.z;
        }
        const float r2 = square(dx, dy, dz);
        float w = inverse_root<1>(r2);
        if constexpr (InParts) {
          if (is_itself)
            w = 0;
          else
            nearest[t] = fminf(nearest[t], r2);
        } else if (r2 < close_r2_in_leaf<Dipoles, Gradient>) {
          w = 0;
          if (!is_itself) {
            ++found.count[t];
            found.source[t] = done + j;
          }
        }
        tile_sums[t].template add<Dipoles, 1>(kernel, s.charge, d, {dx, dy, dz}, r2, w);
      }
    }
#pragma unroll
    for (int t = 0; t < Each; ++t) sums[t].add(tile_sums[t]);
  }
  if constexpr (!InParts) return 0;
  return closer<Each>(nearest, close_r2_in_parts);
}

/// One pair within a leaf, in parts; returns its distance squared.
template <bool Dipoles, bool Potential, bool Gradient, class Kernel>
__device__ inline float add_close_pair(const NearArguments<float>& a, const Kernel& kernel,
                                       int target, int source, float to_leaf,
                                       Sums<double, Potential, Gradient>& sums) {
  const ChargedPoint<float> s = a.strengths.places[source];
  const float dx =
                  (a.targets.x[target] - s.x) + (a.targets.low_x[target] - a.sources.low_x[source]),
              dy =
                  (a.targets.y[target] - s.y) + (a.targets.low_y[target] - a.sources.low_y[source]),
              dz =
                  (a.targets.z[target] - s.z) + (a.targets.low_z[target] - a.sources.low_z[source]),
              r2 = square(dx, dy, dz);
  ChargedPoint<float> dipole{};
  if constexpr (Dipoles) dipole = a.strengths.dipoles[source];
  const Vec3<float> d{to_leaf * dipole.x, to_leaf * dipole.y, to_leaf * dipole.z};
  Sums<float, Potential, Gradient> pair;
  pair.template add<Dipoles, 1>(kernel, s.charge, d, {dx, dy, dz}, r2, inverse_root<1>(r2));
  sums.add(pair);
  return r2;
}

/// All that the targets' own leaf gives. Returns the targets with a source too close for single
/// precision in two parts.
template <bool Dipoles, bool Potential, bool Gradient, int Each, class Kernel>
__device__ inline unsigned long long add_own_pairs(const NearArguments<float>& a,
                                                   const Kernel& kernel, const NearItem& item,
                                                   int2 own, float to_leaf, const float* x,
                                                   const float* y, const float* z,
                                                   WarpShared<float, Dipoles>& shared,
                                                   Sums<double, Potential, Gradient>* sums) {
  FoundPairs<Each> found;
  add_own_leaf<false, Dipoles, Potential, Gradient, Each>(a, kernel, item, own, to_leaf, x, y, z,
                                                          shared, sums, found);
  int most = 0;
#pragma unroll
  for (int t = 0; t < Each; ++t) most = max(most, found.count[t]);
  if (__any_sync(whole_warp, most > 1)) {
#pragma unroll
    for (int t = 0; t < Each; ++t) sums[t] = {};
    return add_own_leaf<true, Dipoles, Potential, Gradient, Each>(a, kernel, item, own, to_leaf, x,
                                                                  y, z, shared, sums, found);
  }
  if (!__any_sync(whole_warp, most > 0)) return 0;
  float nearest[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    nearest[t] = 1;
    const int target = item.first + t * group_lanes + static_cast<int>(threadIdx.x) % group_lanes;
    if (found.count[t] > 0)
      nearest[t] = add_close_pair<Dipoles>(a, kernel, target, found.source[t], to_leaf, sums[t]);
  }
  return closer<Each>(nearest, close_r2_in_parts);
}

/// All pairs of one target in double precision, by the whole warp; every lane gets the sums. Not
/// inlined, as it is rarely called. Sources of several entries are fetched at a time, so that the
/// last warp does not wait for each.
template <bool Dipoles, bool Potential, bool Gradient, class Kernel>
__device__ __attribute__((noinline)) Sums<double, Potential, Gradient> exact_sums(
    const NearArguments<float>& a, const Kernel& kernel, std::int32_t row, std::int32_t target) {
  constexpr int together = 2;
  const int lane = threadIdx.x % warp_size;
  const double x = a.targets.exact_x[target], y = a.targets.exact_y[target],
               z = a.targets.exact_z[target];
  Sums<double, Potential, Gradient> sums;
  const std::int64_t end = a.lists.begin[row + 1];
  for (std::int64_t e = a.lists.begin[row]; e < end; e += together) {
    NearEntry entry[together];
    int most = 0;
#pragma unroll
    for (int k = 0; k < together; ++k) {
      entry[k] = a.lists.entries[min(e + k, end - 1)];
      if (e + k >= end) entry[k].count = 0;
      most = max(most, entry[k].count);
    }
    for (int first = lane; first < most + lane; first += warp_size) {
      double dx[together], dy[together], dz[together], q[together];
      ChargedPoint<float> d[together]{};
#pragma unroll
      for (int k = 0; k < together; ++k) {
        const std::int64_t j = entry[k].begin + max(min(first, entry[k].count - 1), 0);
        dx[k] = x - a.sources.exact_x[j];
        dy[k] = y - a.sources.exact_y[j];
        dz[k] = z - a.sources.exact_z[j];
        q[k] = a.strengths.places[j].charge;
        if constexpr (Dipoles) d[k] = a.strengths.dipoles[j];
      }
#pragma unroll
      for (int k = 0; k < together; ++k) {
        const double r2 = square(dx[k], dy[k], dz[k]);
        const Vec3d dipole{d[k].x, d[k].y, d[k].z};
        if (first < entry[k].count && r2 > 0)
          sums.template add<Dipoles, 2>(kernel, q[k], dipole, {dx[k], dy[k], dz[k]}, r2,
                                        1 / sqrt(r2));
      }
    }
  }
  sums.add_up(1);
  return sums;
}

}  // namespace fmbem::cuda
