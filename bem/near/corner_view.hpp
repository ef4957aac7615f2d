#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// The corners of a triangle as seen from x.
struct CornerView {
  Vec3d to[3];    ///< from x
  double r[3];    ///< distances
  double height;  ///< (x − vertex)·normal, by the closest corner, which rounds least

  FMBEM_HD CornerView(const Triangle& t, Vec3d x) {
    int nearest = 0;
    for (int k = 0; k < 3; ++k) {
      to[k] = t.vertex[k] - x;
      r[k] = norm(to[k]);
      if (r[k] < r[nearest]) nearest = k;
    }
    height = -dot(to[nearest], t.normal);
  }
  /// In the plane, from x's projection to an edge's line; > 0 inside.
  FMBEM_HD double edge_distance(const Triangle& t, int edge) const {
    const int next = (edge + 1) % 3;
    return dot(to[r[edge] < r[next] ? edge : next], t.outward[edge]);
  }
};

}  // namespace fmbem
