#pragma once

#include <cstdint>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::cuda {

/// Panels in device memory, in Morton order, as in Panels. What makes them is to be done before
/// they are handed on.
struct DevicePanels {
  const Vec3d* vertices;      ///< [n][3]
  const std::uint64_t* keys;  ///< [n], Morton keys of the centroids, ascending
  std::int64_t size;          ///< n
  double extent;              ///< diagonal of the bounding box
};

}  // namespace fmbem::cuda
