#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// One or more finite points in cells of the xy plane, some one in each. O(n).
class PointsInCells {
 public:
  explicit PointsInCells(std::span<const Vec3d> points)
      : along_axis_(static_cast<int>(std::ceil(std::sqrt(static_cast<double>(points.size()))))) {
    const auto n = static_cast<std::int64_t>(points.size());
    all_ = coordinate_bounds(n, [&](std::int64_t k) { return points[k]; });
    order_ = sort_by_group(n, std::int64_t{along_axis_} * along_axis_, [&](std::int64_t k) {
      return along_axis_ * cell(points[k].y, 1) + cell(points[k].x, 0);
    });
  }

  /// Calls body(k) for points in cells that a box meets, of which some may be outside of it.
  template <class Body>
  void for_points_in(const CoordinateBounds& box, Body&& body) const {
    for (int axis = 0; axis < 2; ++axis)
      if (box.low[axis] > all_.high[axis] || box.high[axis] < all_.low[axis]) return;
    const int first = cell(box.low.x, 0), last = cell(box.high.x, 0);
    for (int row = cell(box.low.y, 1); row <= cell(box.high.y, 1); ++row) {
      const std::int32_t* const begin = order_.begin.data() + along_axis_ * row;
      for (std::int32_t at = begin[first]; at < begin[last + 1]; ++at) body(order_.number[at]);
    }
  }

 private:
  /// Never falls where x grows.
  int cell(double x, int axis) const {
    const double extent = all_.high[axis] - all_.low[axis];
    const double place = extent > 0 ? along_axis_ * ((x - all_.low[axis]) / extent) : 0;
    return place > 0 ? static_cast<int>(std::min(place, along_axis_ - 1.0)) : 0;
  }

  int along_axis_;
  CoordinateBounds all_;
  GroupOrder order_;
};

}  // namespace fmbem
