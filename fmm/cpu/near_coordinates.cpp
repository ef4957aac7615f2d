#include "fmbem/fmm/cpu/near_coordinates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace fmbem::fmm {
namespace {

/// The largest coordinate in a leaf: half a side, less the one unit by which differences of four
/// sides would overflow.
constexpr double most_in_leaf = (1 << (near_side_bits - 1)) - 1;

/// What is near lies within so many halves of a leaf's side of its centre.
constexpr int most_halves = 7;

/// From the centre of a leaf to that of a box near its level, in halves of the finer one's side.
std::int64_t halves_apart(const Box& leaf, const Box& box, int axis) {
  const int finer = std::max(leaf.level, box.level);
  const auto centre = [&](const Box& b) {
    return (2 * std::int64_t{b.cell[axis]} + 1) << (finer - b.level);
  };
  return centre(box) - centre(leaf);
}

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

bool integers_hold(const Box& leaf, const Box& box) {
  const int levels = leaf.level - box.level, finer = std::max(leaf.level, box.level);
  if (levels < -near_levels || levels > 1) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (std::abs(halves_apart(leaf, box, axis)) + (1 << (finer - box.level)) >
        most_halves << (finer - leaf.level))
      return false;
  return true;
}

NearRange near_range(Range points, const Box& box, const Box& leaf) {
  NearRange piece{points.begin, points.size()};
  if (!integers_hold(leaf, box)) {
    piece.levels = beyond_integers;
    return piece;
  }
  piece.levels = static_cast<std::int8_t>(leaf.level - box.level);
  // The offset is in halves of the side of a box that is near_levels finer than the leaf.
  const int units_of_half = 1 << (near_levels - (std::max(leaf.level, box.level) - leaf.level));
  for (int axis = 0; axis < 3; ++axis)
    piece.offset[axis] = static_cast<std::int8_t>(units_of_half * halves_apart(leaf, box, axis));
  return piece;
}

template class NearCoordinates<double>;
template class NearCoordinates<float>;

}  // namespace fmbem::fmm
