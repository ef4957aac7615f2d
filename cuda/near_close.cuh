#pragma once

#include <cmath>

#include "fmbem/cuda/near_sums.cuh"
#include "fmbem/cuda/near_tiles.cuh"

// Pairs that the near field in single precision would lose digits of.

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
__device__ inline unsigned long long close_at_border(unsigned at_border, const Place<float>* places,
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
      const Place<float> s = places[c * warp_size + __ffs(static_cast<int>(left)) - 1];
#pragma unroll
      for (int t = 0; t < Each; ++t)
        nearest[t] = fminf(nearest[t], square(x[t] - s.x, y[t] - s.y, z[t] - s.z));
    }
  }
  return closer<Each>(nearest, close_r2);
}

/// Coordinates of pairs within a leaf are taken in two parts if one of these is closer; in the
/// potential rounding shows less than in first derivatives.
template <bool Dipoles, bool Gradient>
inline constexpr float close_r2_in_leaf = Dipoles || Gradient ? 0x1p-10f : 0x1p-12f;
/// In parts they are known to 2^-48; what is closer than this is done in double precision.
inline constexpr float close_r2_in_parts = 0x1p-40f;

/// Adds the sources of the targets' own leaf, with coordinates as they are or in two parts. Returns
/// the targets with a source closer than these bounds.
template <bool InParts, bool Dipoles, bool Potential, bool Gradient, int Each>
__device__ inline unsigned long long add_own_leaf(const NearArguments<float>& a,
                                                  const NearItem& item, int2 own, float to_leaf,
                                                  const float* x, const float* y, const float* z,
                                                  WarpShared<float, Dipoles>& shared,
                                                  Sums<double, Potential, Gradient>* sums) {
  // Half of the places are for the lower parts.
  constexpr int size = tile_size<float> / (InParts ? 2 : 1);
  const int lane = threadIdx.x % warp_size;
  float nearest[Each], low_x[InParts ? Each : 1], low_y[InParts ? Each : 1],
      low_z[InParts ? Each : 1];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    nearest[t] = 1;
    if constexpr (InParts) {
      const int i = item.first + min(t * group_lanes + lane % group_lanes, item.count - 1);
      low_x[t] = a.targets.low_x[i];
      low_y[t] = a.targets.low_y[i];
      low_z[t] = a.targets.low_z[i];
    }
  }
  // Which of the sources the first target is; none if these are other points.
  int itself = a.same ? item.first + lane % group_lanes - own.x : -0x40000000;
  for (int done = own.x; done < own.y; done += size, itself -= size) {
    const int take = min(own.y - done, size);
    __syncwarp();
    for (int i = lane; i < take; i += warp_size) {
      const std::int64_t j = done + i;
      shared.places[i] = a.strengths.places[j];
      if constexpr (InParts)
        shared.places[size + i] = {a.sources.low_x[j], a.sources.low_y[j], a.sources.low_z[j], 0.f};
      if constexpr (Dipoles) {
        const Place<float> d = a.strengths.dipoles[j];
        shared.dipoles[i] = {to_leaf * d.x, to_leaf * d.y, to_leaf * d.z, 0.f};
      }
    }
    __syncwarp();
    Sums<float, Potential, Gradient> tile_sums[Each];
#pragma unroll 1
    for (int j = lane / group_lanes; j < take; j += groups) {
      const Place<float> s = shared.places[j];
      Place<float> low{}, dipole{};
      if constexpr (InParts) low = shared.places[size + j];
      if constexpr (Dipoles) dipole = shared.dipoles[j];
      const float d[3] = {dipole.x, dipole.y, dipole.z};
      const int from_itself = itself - j;
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        float dx = x[t] - s.x, dy = y[t] - s.y, dz = z[t] - s.z;
        if constexpr (InParts) {
          dx += low_x[t] - low.x;
          dy += low_y[t] - low.y;
          dz += low_z[t] - low.z;
        }
        float r2 = square(dx, dy, dz);
        if (from_itself == -t * group_lanes) r2 = INFINITY;  // of which 1/√r2 is 0
        nearest[t] = fminf(nearest[t], r2);
        tile_sums[t].template add<Dipoles>(s.charge, d, dx, dy, dz, inverse_root<1>(r2));
      }
    }
#pragma unroll
    for (int t = 0; t < Each; ++t) sums[t].add(tile_sums[t]);
  }
  return closer<Each>(nearest, InParts ? close_r2_in_parts : close_r2_in_leaf<Dipoles, Gradient>);
}

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

}  // namespace fmbem::cuda
