#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/morton.hpp"
#include "fmbem/fmm/tree/radix_sort.hpp"
#include "fmbem/fmm/tree/tree_key.hpp"

namespace fmbem::fmm {

/// A range of sorted points.
struct Range {
  std::int32_t begin = 0, end = 0;
  std::int32_t size() const { return end - begin; }
};

/// Where the points of each cell of a level begin, in Morton order.
struct Bookmarks {
  int level = 0;
  std::vector<std::int32_t> begin{};  ///< [8^level + 1], or empty: there are none

  /// The points of a box of that level or one above.
  Range range(TreeKey key, int of_level) const {
    const int shift = 3 * (level - of_level);
    const auto first = static_cast<std::size_t>(key) << shift;
    return {begin[first], begin[first + (std::size_t{1} << shift)]};
  }
};

/// Points in Morton order: coordinates as a structure of arrays.
struct SortedPoints {
  LargeVector<TreeKey> keys;        ///< [n], ascending
  LargeVector<std::int32_t> order;  ///< [n], order[k] is the input index of the k-th point
  LargeVector<double> x, y, z;      ///< [n]
  /// The deepest level that each point may sink to, [n]; empty if all are points. A key has the
  /// bits of that level alone, so that in its box the point stands before all that may sink deeper.
  LargeVector<std::int8_t> deepest;
  int levels = deepest_tree_level;  ///< that keys tell: trees end there
  Bookmarks bookmarks{};            ///< of points that a histogram has counted

  std::size_t size() const { return keys.size(); }
  int deepest_of(std::int64_t k) const { return deepest.empty() ? levels : deepest[k]; }
};

/// Points times `unit`, sorted by their keys in that root, ties by input index. `deepest` is as in
/// SortedPoints, in the order of the points. These come as they were put in, or else `input_order`
/// has the input index of each: points in nearly the right order take half the time. Keys of fewer
/// levels make trees as the GPU has them.
SortedPoints sort_points(std::span<const Vec3d> points, double unit, const Cube& root,
                         std::span<const std::int8_t> deepest = {},
                         std::span<const std::int32_t> input_order = {},
                         int levels = deepest_tree_level);

/// Points times `unit`, given the upper half of their keys with their indices, in ascending order.
SortedPoints points_in_order(std::span<const Vec3d> points, double unit, const Cube& root,
                             std::span<const KeyedPoint> by_upper_bits);

/// The sorted keys alone, for trees that are only to be counted.
SortedPoints sort_keys(std::span<const Vec3d> points, double unit, const Cube& root);

}  // namespace fmbem::fmm
