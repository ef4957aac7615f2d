#pragma once

#include <cstdint>

#include "fmbem/cuda/blocks.cuh"

// Points that are sorted by counting them in parts of all keys.

namespace fmbem::cuda {

/// Points of a part, each of which is compared with all others of it.
inline constexpr int most_in_part = 256;

/// Of the slots that points get in their parts, in any order, the last one: the most crowded part
/// holds one point more. To be called by whole warps.
__device__ inline void note_last_slot(int slot, int* last) {
  for (int step = 1; step < warp_size; step *= 2)
    slot = max(slot, __shfl_xor_sync(whole_warp, slot, step));
  if (threadIdx.x % warp_size == 0 && slot > *last) atomicMax(last, slot);
}

/// Brings points to their parts, with the places where they were; part_of(k) is the k-th one's.
template <class PartOf>
__global__ void place_in_parts(const std::uint64_t* keys, std::int64_t n, PartOf part_of,
                               const std::int32_t* begin, const std::int32_t* slot,
                               std::uint64_t* to_keys, std::int32_t* to_place) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int32_t to = begin[part_of(k)] + slot[k];
  to_keys[to] = keys[k];
  to_place[to] = static_cast<std::int32_t>(k);
}

}  // namespace fmbem::cuda
