#pragma once

#include <climits>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {

/// Groups of lanes of a warp: those of a group share the targets, the groups the sources.
inline constexpr int groups = warp_size / group_lanes;

/// Sources go to shared memory in tiles of a few chunks of 32. While one tile is worked on, the
/// next is on its way to registers. In single precision the sums of tiles are added up in double
/// precision, so that no sum is long: a lane adds up 32 terms.
template <class N>
inline constexpr int chunks = sizeof(N) == 4 ? 4 : 2;
template <class N>
inline constexpr int tile_size = chunks<N>* warp_size;

/// Shared memory of a warp.
template <class N, bool Dipoles>
struct WarpShared {
  ChargedPoint<N> places[tile_size<N>];
  ChargedPoint<N> dipoles[Dipoles ? tile_size<N> : 1];
  /// For each of 32 entries of a list: what takes the number of a source among all of theirs to its
  /// place; and what takes its coordinates to the target's leaf, with the ratio, in single
  /// precision.
  std::int32_t offset[warp_size];
  ChargedPoint<float> shift[sizeof(N) == 4 ? warp_size : 1];
};

/// Squares of distances, in sides of the target's leaf, of pairs from other leaves whose rounded
/// coordinates would show; sources outside of this cube are that far from all targets of the leaf.
inline constexpr float close_r2 = 0x1p-16f, half_side_with_border = 0.5f + 0x1p-8f;

__device__ inline unsigned or_of_warp(unsigned x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(whole_warp, x);
#else
  for (int step = 1; step < warp_size; step *= 2) x |= __shfl_xor_sync(whole_warp, x, step);
  return x;
#endif
}

/// 2^bit, 0 from 32 on.
__device__ inline unsigned one_bit(unsigned bit) {
#ifdef __CUDA_ARCH__
  unsigned x;
  asm("shl.b32 %0, 1, %1;" : "=r"(x) : "r"(bit));
  return x;
#else
  return bit < 32 ? 1u << bit : 0;
#endif
}

/// Sources of up to 32 entries of a list, tile by tile, without gaps between the leaves: else small
/// leaves would leave most of a chunk empty. In single precision their coordinates, and so their
/// dipoles, are in units of the target's leaf.
template <class N, bool Dipoles>
class Tiles {
 public:
  /// Of n entries, none of which is empty.
  __device__ Tiles(const NearArguments<N>& a, const NearEntry* entries, int n, N to_leaf,
                   WarpShared<N, Dipoles>& shared)
      : places_(a.strengths.places),
        dipoles_(a.strengths.dipoles),
        to_leaf_(to_leaf),
        shared_(shared) {
    const int lane = threadIdx.x % warp_size;
    NearEntry entry{};
    if (lane < n) entry = entries[lane];
    const WarpCounts sources(entry.count);
    total_ = sources.all();
    __syncwarp();  // all are done with the entries before
    if (lane < n) {
      begin_ = sources.before();
      shared.offset[lane] = entry.begin - begin_;
      if constexpr (sizeof(N) == 4)
        shared.shift[lane] = {0.125f * static_cast<float>(entry.shift[0]),
                              0.125f * static_cast<float>(entry.shift[1]),
                              0.125f * static_cast<float>(entry.shift[2]),
                              ldexpf(1, entry.doublings)};
    }
    __syncwarp();
  }

  /// Begins to fetch the next tile; false if there is none.
  __device__ bool fetch() {
    if (done_ >= total_) return false;
    const int lane = threadIdx.x % warp_size;
#pragma unroll
    for (int c = 0; c < chunks<N>; ++c) {
      // A lane's entry is the last that begins up to its source.
      const unsigned begins = or_of_warp(one_bit(static_cast<unsigned>(begin_ - first_of(c))));
      of_[c] = last_ + __popc(begins & (whole_warp >> (warp_size - 1 - lane)));
      last_ = __shfl_sync(whole_warp, of_[c], warp_size - 1);
      source_[c] = places_[index(c, lane)];
    }
    return true;
  }

  /// Puts the tile into shared memory; returns how many sources it has. Places beyond have no
  /// effect.
  __device__ int put() {
    const int lane = threadIdx.x % warp_size;
    at_border_ = 0;
    __syncwarp();  // all are done with the one before
#pragma unroll
    for (int c = 0; c < chunks<N>; ++c) {
      ChargedPoint<N> source = source_[c];
      const bool is = first_of(c) + lane < total_;
      if (!is) source.charge = 0;
      if constexpr (sizeof(N) == 4) {
        const ChargedPoint<float> shift = shared_.shift[of_[c]];
        const float ratio = shift.charge;
        source.x = ratio * source.x + shift.x;
        source.y = ratio * source.y + shift.y;
        source.z = ratio * source.z + shift.z;
        const float outside = fmaxf(fmaxf(fabsf(source.x), fabsf(source.y)), fabsf(source.z));
        if (outside < half_side_with_border) at_border_ |= 1u << c;
      }
      shared_.places[c * warp_size + lane] = source;
      if constexpr (Dipoles) {
        const ChargedPoint<N> d = dipoles_[index(c, lane)];
        const N scale = is ? to_leaf_ : N(0);
        shared_.dipoles[c * warp_size + lane] = {scale * d.x, scale * d.y, scale * d.z, N(0)};
      }
    }
    __syncwarp();
    done_ += tile_size<N>;
    return min(total_ - (done_ - tile_size<N>), tile_size<N>);
  }

  /// Bit c for a lane's source of chunk c of the tile: whether it is in or close to the target's
  /// leaf, in single precision.
  __device__ unsigned at_border() const { return at_border_; }

 private:
  __device__ int first_of(int c) const { return done_ + c * warp_size; }
  /// The number of a lane's source among all; lanes beyond the end have the last one.
  __device__ unsigned index(int c, int lane) const {
    return static_cast<unsigned>(shared_.offset[of_[c]] + min(first_of(c) + lane, total_ - 1));
  }

  const ChargedPoint<N>*places_, *dipoles_;
  N to_leaf_;
  WarpShared<N, Dipoles>& shared_;
  int begin_ = INT_MAX;  ///< of the lane's entry, among all sources
  int total_;            ///< sources
  int done_ = 0;         ///< sources in tiles before
  int last_ = -1;        ///< entry of the last source sent for
  unsigned at_border_ = 0;
  ChargedPoint<N> source_[chunks<N>];
  int of_[chunks<N>];
};

}  // namespace fmbem::cuda
