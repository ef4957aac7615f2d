#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {

/// Leaves with more points are taken by all warps of a block: one warp would be alone in the end.
inline constexpr int most_points_of_a_warp = 512;

/// The leaves of a block: one for each warp, and together those that have too many points for one.
/// Calls take(box, together), in which a warp may wait for its block where that is true. The
/// deepest leaves come first, as merged ones (merge_leaves.cuh) have the more points the deeper
/// they are. To be called by whole blocks; `points` are sources or targets of the boxes.
template <class Take>
__device__ inline void for_leaves_of_block(const LeavesView& leaves, const int2* points,
                                           Take&& take) {
  const int warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size,
            lane = threadIdx.x % warp_size;
  const std::int64_t leaf =
      leaves.count - 1 - (static_cast<std::int64_t>(blockIdx.x) * warps + lane);
  const std::int32_t box = lane < warps && leaf >= 0 ? leaves.boxes[leaf] : -1;
  const bool many = box >= 0 && size_of(points[box]) > most_points_of_a_warp;
  const unsigned present = __ballot_sync(whole_warp, box >= 0),
                 together = __ballot_sync(whole_warp, many);
  for (unsigned todo = (present & 1u << warp) | together; todo != 0; todo &= todo - 1) {
    const int i = __ffs(static_cast<int>(todo)) - 1;
    take(__shfl_sync(whole_warp, box, i), (together >> i & 1) != 0);
  }
}

/// A warp's share of the points of a leaf.
__device__ inline int2 share_of_warp(int2 points, bool together) {
  if (!together) return points;
  const int warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size;
  const int each = (size_of(points) + warps - 1) / warps,
            first = min(points.x + warp * each, points.y);
  return make_int2(first, min(first + each, points.y));
}

}  // namespace fmbem::cuda
