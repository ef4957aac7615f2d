#pragma once

#include <optional>

#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::cuda {

/// Sources that are spread out, each with a centre and its smallest and largest coordinates, and
/// points as targets; all in device memory.
struct SpreadProblem {
  const Vec3d *centre, *low, *high;  ///< [sources]
  const Vec3d* target;               ///< [targets]
  std::int64_t sources, targets;
};

/// As fmm::FarFieldOptions.
struct SpreadOptions {
  int order;
  Precision precision;
  double overhang;
  double near_pair_seconds;  ///< of an H200
  std::optional<int> max_leaf{};
  std::optional<double> inflation{};
  /// For near fields by warps: NearDeviceLists::items have so many targets, at most; 0 for none.
  int targets_of_a_warp = 0;

  bool operator==(const SpreadOptions&) const = default;
};

/// Tree and lists of such a problem, and in which order sources and targets stand in them.
struct SpreadTree {
  double scale = 1;  ///< lengths inside are the caller's times it
  int max_leaf = 1;
  double inflation = 1;
  DeviceTree tree;
  FarLists far;
  NearDeviceLists near;
  DeviceBuffer<std::int32_t> source_order, target_order;
  DeviceBuffer<double> x, y, z;  ///< [targets], in their order here, times the scale
  /// [targets]: the source whose centre a target is, −1 for none; empty where target k is source
  /// k's. For whoever needs it to set.
  DeviceBuffer<std::int32_t> own_source;

  std::int64_t sources() const { return static_cast<std::int64_t>(source_order.size()); }
  std::int64_t rows() const { return static_cast<std::int64_t>(far.target_leaves.size()); }
  PointsView<double> targets() const {
    return {static_cast<std::int64_t>(target_order.size()), target_order.data(), x.data(), y.data(),
            z.data()};
  }
  std::int64_t bytes() const {
    return tree.bytes() + far.bytes() + near.bytes() + source_order.bytes() + target_order.bytes() +
           x.bytes() + y.bytes() + z.bytes() + own_source.bytes();
  }
};

/// Grown on the device, with the leaf size and inflation of the least time by the cost model, for
/// trees of the targets alone, which should be about as many as the sources. What it is made from
/// need not outlive the work in the stream.
SpreadTree grow_spread_tree(const SpreadProblem& problem, const SpreadOptions& options,
                            cudaStream_t stream);

}  // namespace fmbem::cuda
