#include "fmbem/fmm/cpu/near_places.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/base/simd.hpp"

namespace fmbem::fmm {
namespace {

constexpr int unit_bits = 29;
/// The most that a coordinate in a leaf is: half a side, but for what differences of four sides
/// would overflow by.
constexpr double most_in_leaf = (1 << (unit_bits - 1)) - 1;

// Coordinates of a box `levels` finer, from the centre of another one.
FMBEM_SIMD_CLONES void move_places(int n, int levels, std::int32_t offset, const std::int32_t* x,
                                   std::int32_t* out) {
  if (levels == 0)
    for (int i = 0; i < n; ++i) out[i] = offset + x[i];
  else if (levels > 0)
    for (int i = 0; i < n; ++i) out[i] = offset + 2 * x[i];
  else
    for (int i = 0; i < n; ++i) out[i] = offset + ((x[i] + 1) >> 1);
}

const LargeVector<double>& axis_of(const SortedPoints& points, int k) {
  return k == 0 ? points.x : k == 1 ? points.y : points.z;
}

}  // namespace

template <>
NearPlaces<double>::NearPlaces(const Octree&, const SortedPoints& points, Range Box::*)
    : points_(points) {}

template <>
void NearPlaces<double>::copy(Range points, const Box&, const Box&,
                              const std::array<double*, 3>& to) const {
  for (int k = 0; k < 3; ++k)
    std::copy_n(axis_of(points_, k).data() + points.begin, points.size(), to[k]);
}

template <>
double NearPlaces<double>::unit(const Octree&, const Box&) {
  return 1;
}

template <>
double NearPlaces<float>::unit(const Octree& tree, const Box& leaf) {
  return std::ldexp(1.0, unit_bits) / tree.side(leaf.level);
}

template <>
NearPlaces<float>::NearPlaces(const Octree& tree, const SortedPoints& points, Range Box::*points_of)
    : points_(points) {
  for (auto& axis : places_) axis.resize(points.size());
#pragma omp parallel for schedule(static)
  for (const Box& box : tree.boxes) {
    if (!box.is_leaf) continue;
    const double scale = unit(tree, box);
    const Range range = box.*points_of;
    for (int k = 0; k < 3; ++k) {
      const double corner = tree.root.corner[k], centre = tree.centre_from_corner(box)[k];
      const double* const x = axis_of(points, k).data();
      for (std::int32_t i = range.begin; i < range.end; ++i)
        places_[k][i] = static_cast<std::int32_t>(std::lrint(
            std::clamp((x[i] - corner - centre) * scale, -most_in_leaf, most_in_leaf)));
    }
  }
}

template <>
void NearPlaces<float>::copy(Range points, const Box& from, const Box& leaf,
                             const std::array<std::int32_t*, 3>& to) const {
  const int levels = leaf.level - from.level;  // −1, 0 or 1
  const int finer = std::max(leaf.level, from.level);
  // Centres in halves of the finer one's sides.
  const auto centre = [&](const Box& box, int k) {
    return (2 * std::int64_t{box.cell[k]} + 1) << (finer - box.level);
  };
  for (int k = 0; k < 3; ++k) {
    const std::int64_t apart = (centre(from, k) - centre(leaf, k)) * (1 << (unit_bits - 1));
    const auto offset = static_cast<std::int32_t>(apart >> (finer - leaf.level));
    move_places(points.size(), levels, offset, places_[k].data() + points.begin, to[k]);
  }
}

template class NearPlaces<double>;
template class NearPlaces<float>;

}  // namespace fmbem::fmm
