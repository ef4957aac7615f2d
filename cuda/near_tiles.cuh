#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {

/// Groups of lanes of a warp: those of a group share the targets, the groups the sources.
inline constexpr int groups = warp_size / group_lanes;

/// Sources are taken to shared memory in tiles of a few chunks, each of up to 32 of one leaf. While
/// a tile is worked on the next one is on its way to registers. In single precision the sums of
/// tiles are added up in double precision, so that none is long.
template <class N>
inline constexpr int chunks = sizeof(N) == 4 ? 4 : 2;
template <class N>
inline constexpr int tile_size = chunks<N>* warp_size;

/// What a kernel of the near field gets.
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

}  // namespace fmbem::cuda
