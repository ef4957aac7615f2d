#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::cuda::bem {

struct PanelStore;

/// Triangles in Morton order of their centroids: the order, for the host, and what operators need
/// of the panels, which stays in the GPU's memory.
struct SortedPanels {
  LargeVector<std::int64_t> order;  ///< [n], triangle of the k-th panel
  LargeVector<std::uint64_t> keys;  ///< [n], ascending
  std::shared_ptr<const PanelStore> store;
};

/// Order and keys are those of morton_order() of the centroids, to the last bit. `extent` is the
/// diagonal of the bounding box. Throws InputError without a usable GPU, for centroids that are not
/// finite and for more triangles than an operator takes, DeviceMemoryError for want of memory.
SortedPanels sort_panels(std::span<const Vec3d> vertices,
                         std::span<const std::array<int, 3>> triangles, double extent);

}  // namespace fmbem::cuda::bem
