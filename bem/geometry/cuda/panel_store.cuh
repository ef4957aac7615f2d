#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/spread_tree.cuh"

namespace fmbem::cuda::bem {

struct DevicePieces;

/// Triangles in device memory, as the host has them.
struct TrianglesOnDevice {
  /// The copy is done when this returns.
  TrianglesOnDevice(std::span<const Vec3d> vertices, std::span<const std::array<int, 3>> corners,
                    cudaStream_t stream);

  DeviceBuffer<Vec3d> vertices;
  DeviceBuffer<int> corners;  ///< [n][3], vertices

  std::int64_t size() const { return static_cast<std::int64_t>(corners.size()) / 3; }
};

/// Panels in device memory.
struct PanelStore {
  /// Panel k is triangle order[k], or k where there is no order. Waits for the device.
  PanelStore(const TrianglesOnDevice& triangles, const std::int32_t* order,
             DeviceBuffer<std::uint64_t> sorted_keys, double extent, cudaStream_t stream);
  /// Those of `all` whose numbers are `chosen`. Waits for the device.
  PanelStore(const PanelStore& all, const DeviceBuffer<std::int32_t>& chosen, cudaStream_t stream);

  DeviceBuffer<Vec3d> vertices;       ///< [n][3]
  DeviceBuffer<std::uint64_t> keys;   ///< [n]
  DeviceBuffer<Vec3d> centroid;       ///< [n]
  DeviceBuffer<double> area, radius;  ///< [n]
  double extent;
  bool has_long = false;  ///< there are long panels (is_long()), or such that nearly are

  std::int64_t size() const { return static_cast<std::int64_t>(area.size()); }
  std::int64_t bytes() const {
    return vertices.bytes() + keys.bytes() + centroid.bytes() + area.bytes() + radius.bytes();
  }
  DevicePanels view() const {
    return {vertices.data(), keys.data(), centroid.data(), radius.data(), size(), extent};
  }
};

/// The panels where they are, if they are in device memory; else a copy, in the order of the
/// stream.
std::shared_ptr<const PanelStore> store_of(const Panels& panels, cudaStream_t stream);

/// The tree of panels, or their pieces, as sources and of points in device memory as targets.
SpreadTree grow_panel_tree(const PanelStore& panels, const DeviceBuffer<Vec3d>& targets,
                           const SpreadOptions& options, cudaStream_t stream,
                           const DevicePieces* pieces = nullptr);

/// The near field's part of the norm at the targets of the tree, as the host's operator estimates
/// it, of Yukawa's kernel where κ > 0. Waits for the device.
NormEstimate estimate_norm(const PanelStore& panels, const DeviceBuffer<Vec3d>& targets,
                           const SpreadTree& tree, double kappa, cudaStream_t stream,
                           const DevicePieces* pieces = nullptr);

/// The same of K.
NormEstimate estimate_double_layer(const PanelStore& panels, const DeviceBuffer<Vec3d>& targets,
                                   const SpreadTree& tree, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
