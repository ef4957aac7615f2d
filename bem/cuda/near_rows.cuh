#pragma once

#include "fmbem/bem/cuda/panel_store.cuh"
#include "fmbem/bem/cuda/rules.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda {

/// What kernels of the near field see: a block works on a row, that is on a leaf with targets.
struct NearRowsView {
  const Vec3d *vertices, *centroid;
  const double *area, *radius;
  const std::int32_t* source_order;
  PointsView<double> targets;
  double unit;  ///< lengths here are the panels' times it: so no square leaves the range of numbers
  TreeView tree;
  const std::int32_t* leaves;
  NearListsView lists;
  const std::int64_t* pairs_before;  ///< [rows + 1], of the rows before
  std::int64_t panels;

  /// The same with rows counted from that one on.
  NearRowsView from(std::int64_t row) const {
    NearRowsView later = *this;
    later.leaves += row;
    later.lists.begin += row;
    later.pairs_before += row;
    return later;
  }
  __device__ int2 targets_of(std::int64_t row) const { return tree.targets[leaves[row]]; }
  __device__ Vec3d target(std::int64_t i) const {
    return {targets.x[i], targets.y[i], targets.z[i]};
  }
};

inline NearRowsView rows_of(const PanelStore& panels, const SpreadTree& tree) {
  return {panels.vertices.data(),
          panels.centroid.data(),
          panels.area.data(),
          panels.radius.data(),
          tree.source_order.data(),
          tree.targets(),
          tree.unit,
          tree.tree.view(),
          tree.far.target_leaves.data(),
          tree.near.view(),
          tree.near.pairs_before.data(),
          panels.size()};
}

/// Panels that a block takes to shared memory at a time.
inline constexpr int panels_at_once = 128;

template <class N, int Room = panels_at_once>
struct SharedPanels {
  std::int32_t number[Room];
  Vec3d centroid[Room];
  RulePanel<N> panel[Room];

  __device__ void load(const NearRowsView& a, std::int64_t from, int to) {
    const auto in_n = [](Vec3d x) {
      return Vec3<N>{static_cast<N>(x.x), static_cast<N>(x.y), static_cast<N>(x.z)};
    };
    const Vec3d* const v = a.vertices + 3 * from;
    const Vec3d unit_centroid = a.unit * a.centroid[from], corner = a.unit * v[0] - unit_centroid;
    const double unit_radius = a.unit * a.radius[from];
    number[to] = static_cast<std::int32_t>(from);
    centroid[to] = unit_centroid;
    panel[to] = {in_n(corner), in_n(a.unit * (v[1] - v[0])), in_n(a.unit * (v[2] - v[0])),
                 static_cast<N>(inv_4pi * (a.unit * a.unit * a.area[from])),
                 static_cast<N>(unit_radius * unit_radius)};
  }

  /// Panel j's from x.
  __device__ Vec3<N> centre(int j, Vec3d x) const {
    const Vec3d d = centroid[j] - x;
    return {static_cast<N>(d.x), static_cast<N>(d.y), static_cast<N>(d.z)};
  }
};

/// Calls body(panels in shared memory, count) for the panels of a row, up to `room` at a time, by
/// the whole block. Pieces of leaves fill the room without gaps, a warp a piece, so that none waits
/// for another's to come from memory.
template <class N, int Room, class Body>
__device__ inline void for_panels(const NearRowsView& a, std::int64_t row, int room,
                                  SharedPanels<N, Room>& shared, Body&& body) {
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const int warps = blockDim.x / warp_size;
  int filled = 0, piece = 0;
  const auto empty = [&] {
    __syncthreads();
    body(shared, filled);
    __syncthreads();
    filled = 0;
  };
  for (std::int64_t e = a.lists.begin[row]; e < a.lists.begin[row + 1]; ++e) {
    const NearEntry entry = a.lists.entries[e];
    for (int done = 0, some = 0; done < entry.count; done += some) {
      some = min(min(entry.count - done, warp_size), room - filled);
      if (piece++ % warps == warp && lane < some)
        shared.load(a, a.source_order[entry.begin + done + lane], filled + lane);
      filled += some;
      if (filled == room) empty();
    }
  }
  if (filled > 0) empty();
}
template <class N, class Body>
__device__ inline void for_panels(const NearRowsView& a, std::int64_t row, Body&& body) {
  for_panels(a, row, panels_at_once, static_shared<SharedPanels<N>>(), body);
}

/// A pair of a panel in shared memory and a target, and the rule that serves it; −1: none does.
template <class N>
struct RulePair {
  Vec3<N> centre;  ///< the panel's, from the target
  int rule;

  template <int Room>
  __device__ RulePair(const NearRules<N>& rules, const SharedPanels<N, Room>& shared, int j,
                      Vec3d x)
      : centre(shared.centre(j, x)),
        rule(rules.at(rules.distance2(centre), shared.panel[j].radius2)) {}
};

/// Calls body(target, k, s, panel) for the pairs of a row that are too close for a rule, the k-th
/// of the target and the s-th source of the row: a thread a target, in the order of the lists.
template <class N, class Body>
__device__ inline void for_close_pairs(const NearRowsView& a, std::int64_t row,
                                       const NearRules<N>& rules, Body&& body) {
  const int2 targets = a.targets_of(row);
  for (std::int32_t first = targets.x; first < targets.y; first += blockDim.x) {
    const std::int32_t i = first + static_cast<std::int32_t>(threadIdx.x);
    const bool works = i < targets.y;
    const Vec3d x = a.target(works ? i : targets.x);
    int found = 0, before = 0;
    for_panels<N>(a, row, [&](const SharedPanels<N>& panels, int some) {
      for (int j = 0; works && j < some; ++j)
        if (RulePair<N>(rules, panels, j, x).rule < 0)
          body(i, found++, before + j, panels.number[j]);
      before += some;
    });
  }
}

/// Pairs that are too close for a rule, target after target in the order of the near lists.
struct ClosePairs {
  DeviceBuffer<std::int64_t> begin;  ///< [targets + 1]
  DeviceBuffer<std::int32_t> panel;
  std::int64_t bytes() const { return begin.bytes() + panel.bytes(); }
};
template <class N>
ClosePairs find_close_pairs(const NearRowsView& view, std::int64_t rows, const NearRules<N>& rules,
                            cudaStream_t stream);

/// Their integrals, to the tolerance.
template <class Entry>
DeviceBuffer<Entry> integrate_close_pairs(const NearRowsView& view, const ClosePairs& pairs,
                                          double tolerance, cudaStream_t stream);

}  // namespace fmbem::cuda
