#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Deepest level of an octree: 21 bits an axis, 63 bits a key.
inline constexpr int deepest_level = 21;

/// A cube: the root of an octree.
struct Cube {
  Vec3d corner;     ///< smallest coordinates
  double side = 1;  ///< > 0
};

/// Smallest cube, centred on the bounding box, that holds every point. A single point gets side 1.
Cube bounding_cube(std::span<const Vec3d> points);

/// Morton key of a point of the cube at the deepest level: bit 3l+2, 3l+1, 3l of level l are those
/// of x, y and z. Points outside are moved to the boundary.
std::uint64_t morton_key(Vec3d point, const Cube& cube);

/// Cell of a box's grid from its key, the leading 3l bits of a point's on level l; and back.
std::array<std::int32_t, 3> cell_of(std::uint64_t key);
std::uint64_t key_of(std::array<std::int32_t, 3> cell);

/// Points in Morton order, cut into the leaves of an adaptive octree.
struct MortonOrder {
  Cube cube;
  std::vector<std::uint64_t> keys;       ///< [n], ascending
  std::vector<std::int64_t> order;       ///< [n], order[k] is the index of the k-th point
  std::vector<std::int64_t> leaf_begin;  ///< [n_leaves + 1], offsets into keys; no leaf is empty
};

/// Sorts the points by key (ties by index) and splits the root until a leaf holds at most max_leaf
/// points or the deepest level is reached. O(n log n).
/// Throws InputError for non-finite coordinates or max_leaf < 1.
MortonOrder morton_order(std::span<const Vec3d> points, int max_leaf);

}  // namespace fmbem
