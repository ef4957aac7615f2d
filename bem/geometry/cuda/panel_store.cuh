#pragma once

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/spread_tree.cuh"

namespace fmbem::cuda::bem {

/// A copy of panels in device memory.
struct PanelStore {
  PanelStore(const Panels& panels, cudaStream_t stream);

  DeviceBuffer<Vec3d> vertices;       ///< [n][3]
  DeviceBuffer<std::uint64_t> keys;   ///< [n]
  DeviceBuffer<Vec3d> centroid;       ///< [n]
  DeviceBuffer<double> area, radius;  ///< [n]
  double extent;

  std::int64_t size() const { return static_cast<std::int64_t>(area.size()); }
  std::int64_t bytes() const {
    return vertices.bytes() + keys.bytes() + centroid.bytes() + area.bytes() + radius.bytes();
  }
  DevicePanels view() const {
    return {vertices.data(), keys.data(), centroid.data(), radius.data(), size(), extent};
  }
};

/// The tree of panels as sources and their centroids as targets.
SpreadTree grow_panel_tree(const PanelStore& panels, const SpreadOptions& options,
                           cudaStream_t stream);

/// The part of ‖V‖ that the near field has, as estimated by the host's operator: the largest of
/// some of its row sums over the mean of V's. Waits for the device.
double near_fraction(const PanelStore& panels, const SpreadTree& tree, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
