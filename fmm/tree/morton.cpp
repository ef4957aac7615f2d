#include "fmbem/fmm/tree/morton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <parallel/algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// The keys of a box, [begin, end).
struct BoxKeys {
  std::int64_t begin, end;
  int level;
};

/// Splits a box until no box holds more than so many keys, and writes the boxes in order.
void split(std::span<const std::uint64_t> keys, BoxKeys box, std::int64_t most,
           std::vector<BoxKeys>& boxes) {
  const auto [begin, end, level] = box;
  if (end - begin <= most || level == deepest_level) {
    if (end > begin) boxes.push_back(box);
    return;
  }
  const int shift = 3 * (deepest_level - level - 1);
  const std::uint64_t parent = keys[begin] >> shift & ~std::uint64_t{7};
  std::int64_t child_begin = begin;
  for (std::uint64_t child = 1; child <= 8; ++child) {
    const auto child_end = child == 8
                               ? keys.begin() + end
                               : std::lower_bound(keys.begin() + child_begin, keys.begin() + end,
                                                  (parent + child) << shift);
    split(keys, {child_begin, child_end - keys.begin(), level + 1}, most, boxes);
    child_begin = child_end - keys.begin();
  }
}

/// A hull that is thinner than this, in sides of the cube, is thin.
constexpr double thin = 0.125;

/// Of a cloud that is this small beside its coordinates, their rounding shows in the corner.
constexpr double narrow = 0x1p-20;
/// What the cube then has more, in units in the last place of the largest coordinate: the corner is
/// rounded twice here and once where the root is inflated, each time by half a unit.
constexpr double units_more = 8;

}  // namespace

Hull bounding_cube(std::span<const Vec3d> points) {
  if (points.empty()) return {};
  const CoordinateBounds bounds = coordinate_bounds(static_cast<std::int64_t>(points.size()),
                                                    [&](std::int64_t k) { return points[k]; });
  return bounding_cube(bounds.low, bounds.high);
}

Hull bounding_cube(Vec3d low, Vec3d high) {
  const Vec3d extent = high - low;
  double side = std::max({extent.x, extent.y, extent.z});
  if (!(side > 0)) side = 1;
  double largest = 0;
  for (int axis = 0; axis < 3; ++axis)
    largest = std::max({largest, std::abs(low[axis]), std::abs(high[axis])});
  if (side < narrow * largest)
    side += units_more * std::numeric_limits<double>::epsilon() * largest;
  Hull hull;
  hull.side = side;
  for (int axis = 0; axis < 3; ++axis)
    if (extent[axis] < thin * side) hull.below[axis] = 1.0 / 3;
  hull.corner = low + extent / 2.0 - side * hull.below;
  return hull;
}

MortonOrder morton_order(std::span<const Vec3d> points) {
  const auto n = static_cast<std::int64_t>(points.size());
  MortonOrder result;
  result.cube = bounding_cube(points);
  // Comparisons with NaN would pass over it, so each point is looked at.
  std::int64_t first_bad = n;
#pragma omp parallel for reduction(min : first_bad)
  for (std::int64_t i = 0; i < n; ++i)
    if (!std::isfinite(norm2(points[i]))) first_bad = std::min(first_bad, i);
  FMBEM_REQUIRE(first_bad == n, "point " << first_bad << " is not finite");
  LargeVector<std::pair<std::uint64_t, std::int64_t>> entries(n);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) entries[i] = {morton_key(points[i], result.cube), i};
  __gnu_parallel::sort(entries.begin(), entries.end());
  result.keys.resize(n);
  result.order.resize(n);
#pragma omp parallel for
  for (std::int64_t k = 0; k < n; ++k) std::tie(result.keys[k], result.order[k]) = entries[k];
  return result;
}

std::vector<std::int64_t> octree_leaves(std::span<const std::uint64_t> keys, int max_leaf) {
  FMBEM_REQUIRE(max_leaf >= 1, "a leaf must hold at least one point, not " << max_leaf);
  const auto n = static_cast<std::int64_t>(keys.size());
  // First large boxes, whose leaves are then found in parallel.
  std::vector<BoxKeys> large;
  split(keys, {0, n, 0}, std::max<std::int64_t>(max_leaf, n / 256), large);
  std::vector<std::vector<BoxKeys>> leaves(large.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t k = 0; k < large.size(); ++k) split(keys, large[k], max_leaf, leaves[k]);
  std::vector<std::int64_t> begin;
  for (const auto& some : leaves)
    for (const BoxKeys& leaf : some) begin.push_back(leaf.begin);
  begin.push_back(n);
  return begin;
}

}  // namespace fmbem
