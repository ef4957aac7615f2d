#include "fmbem/fmm/cpu/near_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fmbem::fmm {
namespace {

/// The largest coordinate in a leaf: half a side, less the one unit by which differences of four
/// sides would overflow.
constexpr double most_in_leaf = (1 << (near_side_bits - 1)) - 1;

const LargeVector<double>& axis_of(const SortedPoints& points, int k) {
  return k == 0 ? points.x : k == 1 ? points.y : points.z;
}

}  // namespace

template <>
NearCoordinates<double>::NearCoordinates(const Octree&, const SortedPoints& points, Range Box::*)
    : points_(points) {}

template <>
std::array<const double*, 3> NearCoordinates<double>::axes() const {
  return {points_.x.data(), points_.y.data(), points_.z.data()};
}

template <>
double NearCoordinates<double>::scale(const Octree&, int) {
  return 1;
}

template <>
double NearCoordinates<float>::scale(const Octree& tree, int level) {
  return std::ldexp(1.0, near_side_bits) / tree.side(level);
}

template <>
NearCoordinates<float>::NearCoordinates(const Octree& tree, const SortedPoints& points,
                                        Range Box::*points_of)
    : points_(points) {
  for (auto& axis : coordinates_) axis.resize(points.size());
#pragma omp parallel for schedule(static)
  for (const Box& box : tree.boxes) {
    if (!box.is_leaf) continue;
    const double to_units = scale(tree, box.level);
    const Range range = box.*points_of;
    const BoxCentre from_centre(tree, box);
    for (int k = 0; k < 3; ++k) {
      const double* const x = axis_of(points, k).data();
      for (std::int32_t i = range.begin; i < range.end; ++i)
        coordinates_[k][i] = static_cast<std::int32_t>(
            std::lrint(std::clamp(from_centre(k, x[i]) * to_units, -most_in_leaf, most_in_leaf)));
    }
  }
}

template <>
std::array<const std::int32_t*, 3> NearCoordinates<float>::axes() const {
  return {coordinates_[0].data(), coordinates_[1].data(), coordinates_[2].data()};
}

NearRange near_range(Range points, const Box& box, const Box& leaf) {
  NearRange piece{points.begin, points.size()};
  piece.levels = static_cast<std::int8_t>(leaf.level - box.level);
  if (std::abs(piece.levels) > near_levels) return piece;
  const int finer = std::max(leaf.level, box.level);
  // The distance of the centres in halves of the finer box's side.
  const auto centre = [&](const Box& b, int axis) {
    return (2 * b.cell[axis] + 1) << (finer - b.level);
  };
  // The offset is in halves of the side of a box that is near_levels finer than the leaf.
  const int units_of_half = 1 << (near_levels - (finer - leaf.level));
  for (int axis = 0; axis < 3; ++axis)
    piece.offset[axis] =
        static_cast<std::int8_t>(units_of_half * (centre(box, axis) - centre(leaf, axis)));
  return piece;
}

template class NearCoordinates<double>;
template class NearCoordinates<float>;

}  // namespace fmbem::fmm
