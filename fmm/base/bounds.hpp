#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Smallest and largest coordinates.
struct CoordinateBounds {
  Vec3d low, high;

  static CoordinateBounds of_nothing() {
    constexpr double most = std::numeric_limits<double>::infinity();
    return {{most, most, most}, {-most, -most, -most}};
  }
  /// No bounds contain what is not a number.
  bool contains(Vec3d x) const {
    for (int axis = 0; axis < 3; ++axis)
      if (!(x[axis] >= low[axis] && x[axis] <= high[axis])) return false;
    return true;
  }

  void add(Vec3d x) { add({x, x}); }
  void add(const CoordinateBounds& other) {
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], other.low[axis]);
      high[axis] = std::max(high[axis], other.high[axis]);
    }
  }
};

/// Of the points at(0) … at(n − 1), n > 0, by all threads.
template <class At>
CoordinateBounds coordinate_bounds(std::int64_t n, At&& at) {
  const Vec3d first = at(0);
  CoordinateBounds all{first, first};
  std::mutex adding;  // of this call, as others may run at the same time
#pragma omp parallel
  {
    CoordinateBounds own{first, first};
#pragma omp for schedule(static) nowait
    for (std::int64_t k = 0; k < n; ++k) own.add(at(k));
    const std::lock_guard one_at_a_time(adding);
    all.add(own);
  }
  return all;
}

}  // namespace fmbem
