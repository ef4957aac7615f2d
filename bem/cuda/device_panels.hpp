#pragma once

#include <cstdint>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::cuda {

/// Panels in device memory, in the order of Panels.
struct DevicePanels {
  const Vec3d* vertices;      ///< [size][3]
  const std::uint64_t* keys;  ///< [size], Morton keys of the centroids, ascending
  std::int64_t size;
  double extent;  ///< diagonal of the bounding box
};

}  // namespace fmbem::cuda
