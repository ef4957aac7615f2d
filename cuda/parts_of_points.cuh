#pragma once

#include <cstdint>

#include "fmbem/cuda/blocks.cuh"

// Points that are sorted by counting them in parts of all keys, which they are brought to, and then
// ranked in.

namespace fmbem::cuda {

/// Points of a part, each of which is compared with all others of it.
inline constexpr int most_in_part = 256;

/// Counts a lane's point in its part, −1 for none, and gives it a slot there, in any order. To be
/// called by whole warps: neighbours are often of one part, for which one lane counts. `last`
/// becomes the last slot of all parts at least.
__device__ inline int next_slot(std::int32_t* counts, std::int32_t part, int* last) {
  const int lane = threadIdx.x % warp_size;
  const unsigned same = __match_any_sync(whole_warp, part);
  const int leader = __ffs(static_cast<int>(same)) - 1;
  int first = 0;
  if (part >= 0 && lane == leader) {
    const int more = __popc(same);
    first = atomicAdd(counts + part, more);
    if (first + more - 1 > *last) atomicMax(last, first + more - 1);
  }
  return __shfl_sync(whole_warp, first, leader) + bits_below(same, lane);
}

/// Brings points to their parts, with the places where they were and, unless null, their parts.
/// part_of(k) is the part of the k-th.
template <class PartOf>
__global__ void place_in_parts(const std::uint64_t* keys, std::int64_t n, PartOf part_of,
                               const std::int32_t* begin, const std::int32_t* slot,
                               std::uint64_t* to_keys, std::int32_t* to_place,
                               std::int32_t* to_part) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int32_t part = part_of(k), to = begin[part] + slot[k];
  to_keys[to] = keys[k];
  to_place[to] = static_cast<std::int32_t>(k);
  if (to_part) to_part[to] = part;
}

/// Points in their order; keys and places null where they are not wanted.
struct RankedPoints {
  std::uint64_t* key;
  std::int32_t* order;  ///< input index of each
  std::int32_t* place;  ///< where it was in the order of before
};

/// A point's rank in its part is the number of points with a smaller key, or the same and a smaller
/// index: it does not depend on the slots. `order_before`: the index of each place, or null.
template <class PartOf>
__global__ void rank_in_parts(const std::uint64_t* keys, const std::int32_t* places, std::int64_t n,
                              PartOf part_of, const std::int32_t* begin,
                              const std::int32_t* order_before, RankedPoints to) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const auto index_of = [&](std::int32_t place) {
    return order_before ? order_before[place] : place;
  };
  const std::uint64_t own = keys[k];
  const std::int32_t part = part_of(k), place = places[k], index = index_of(place),
                     first = begin[part], end = begin[part + 1];
  std::int32_t rank = first, equal = 0;
  for (std::int32_t j = first; j < end; ++j) {
    rank += keys[j] < own;
    equal += keys[j] == own;
  }
  for (std::int32_t j = first; j < end && equal > 1; ++j)
    rank += keys[j] == own && index_of(places[j]) < index;
  to.order[rank] = index;
  if (to.key) to.key[rank] = own;
  if (to.place) to.place[rank] = place;
}

}  // namespace fmbem::cuda
