#pragma once

// Seeded points and strengths under the names of the tests.
#include <algorithm>
#include <vector>

#include "fmbem/fmm/base/clouds.hpp"

namespace fmbem::test {

using namespace clouds;

inline std::vector<Vec3d> shifted(std::vector<Vec3d> points, Vec3d by) {
  for (Vec3d& x : points) x += by;
  return points;
}

/// Side of the bounding cube.
inline double extent(const std::vector<Vec3d>& points) {
  Vec3d low = points[0], high = low;
  for (const Vec3d& x : points)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], x[axis]);
      high[axis] = std::max(high[axis], x[axis]);
    }
  return std::max({high.x - low.x, high.y - low.y, high.z - low.z});
}

}  // namespace fmbem::test
