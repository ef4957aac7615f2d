#pragma once

#include <cstdint>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem::cuda::bem {

/// Panels in device memory, in Morton order, as in Panels. The work that makes them has to be done
/// before they are handed on.
struct DevicePanels {
  const Vec3d* vertices;      ///< [n][3]
  const std::uint64_t* keys;  ///< [n], Morton keys of the centroids, ascending
  const Vec3d* centroid;      ///< [n]
  const double* radius;       ///< [n], largest distance of a vertex from the centroid
  std::int64_t size;          ///< n
  double extent;              ///< diagonal of the bounding box

  struct Ball {
    Vec3d centroid;
    double radius;
  };
  FMBEM_HD Ball operator[](std::int64_t i) const { return {centroid[i], radius[i]}; }
  /// Made again for each call, as they are four times as large as the vertices.
  FMBEM_HD Triangle triangle(std::int64_t i) const {
    return make_triangle(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
  }
};

}  // namespace fmbem::cuda::bem
