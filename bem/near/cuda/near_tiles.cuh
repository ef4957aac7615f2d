#pragma once

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/pass.cuh"

// How a warp goes through the near panels of up to 32 points of a leaf. Its lanes make 32 triangles
// at a time in shared memory, and then each goes through them for its target; lanes that few
// targets leave over share the triangles out.

namespace fmbem::cuda::bem {

/// Targets that a warp takes, at most.
inline constexpr int points_of_a_warp = 32;

/// Items, a warp each, and what lies near to them. Lengths are in the tree's unit.
struct NearTilesAtPoints {
  const Vec3d* vertices;             ///< [panels][3], in the panels' unit
  const std::int32_t* source_order;  ///< panels in the order of the near lists
  PointsView<double> targets;
  NearListsView lists;
  const NearItem* items;
  std::int64_t n_items;
  double scale;  ///< the tree's unit over the panels'
  double reach;  ///< extent of the panels and distance of their origin, for surface_rounding()

  __device__ Triangle triangle(std::int32_t panel) const {
    const Vec3d* const v = vertices + 3 * static_cast<std::int64_t>(panel);
    return make_triangle(scale * v[0], scale * v[1], scale * v[2]);
  }
};

/// A lane's target, by its number among the sorted ones, and how the lanes share the item.
struct LaneTarget {
  int share, groups, group;  ///< lanes with different targets; groups of these, and the lane's
  bool writes;               ///< one of those lanes, with a target of its own
  std::int32_t number;
  bool is_own;  ///< or one that another lane has
  Vec3d x;
  double tolerance;  ///< surface_rounding()

  __device__ LaneTarget(const NearTilesAtPoints& a, const NearItem& item) : share(8) {
    const int lane = threadIdx.x % warp_size;
    while (share < item.count) share *= 2;
    groups = warp_size / share;
    group = lane / share;
    number = item.first + min(lane % share, item.count - 1);
    is_own = lane % share < item.count;
    writes = lane < item.count;
    x = {a.targets.x[number], a.targets.y[number], a.targets.z[number]};
    constexpr double epsilon = 0x1p-52;
    tolerance = 4 * epsilon * (a.reach + norm(x));
  }
  /// Writes the sum over the lanes that have the same target; by the whole warp.
  __device__ void write(double sum, double* out) const {
    for (int step = share; step < warp_size; step *= 2)
      sum += __shfl_xor_sync(whole_warp, sum, step);
    if (writes) out[number] = sum;
  }
};

/// Calls load(panel, place), by the lanes, for 32 panels of a row's near list at a time, and then
/// body(how many), by the whole warp.
template <class Load, class Body>
__device__ inline void for_near_tiles(const NearTilesAtPoints& a, std::int32_t row, Load&& load,
                                      Body&& body) {
  const int lane = threadIdx.x % warp_size;
  const std::int64_t end = a.lists.begin[row + 1];
  for (std::int64_t e = a.lists.begin[row] + lane; e - lane < end; e += warp_size) {
    const NearEntry entry = e < end ? a.lists.entries[e] : NearEntry{};
    const WarpCounts numbers(entry.count);
    const int shift = entry.begin - numbers.before();
    for (int done = 0; done < numbers.all(); done += warp_size) {
      const int place = done + lane;
      const int at = place + __shfl_sync(whole_warp, shift, numbers.lane_of(place));
      __syncwarp();  // the panels before are done
      if (place < numbers.all()) load(a.source_order[at], lane);
      __syncwarp();
      body(min(warp_size, numbers.all() - done));
    }
  }
}

}  // namespace fmbem::cuda::bem
