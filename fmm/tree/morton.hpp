#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"

namespace fmbem {

/// A cube about points that may be inflated (choice/search.hpp).
struct Hull : Cube {
  Vec3d below{0.5, 0.5, 0.5};  ///< by axis, the part of the room about it that lies below it
};
/// What it is where lengths are so many times as large.
inline Hull scaled(const Hull& hull, double scale) {
  return {{scale * hull.corner, scale * hull.side}, hull.below};
}

/// Smallest cube that holds every point. A single point gets side 1. Around a cloud of few units in
/// the last place it is some of these larger, so that it holds the points although its corner is
/// rounded. It is centred on the bounding box but where that is thinner than an eighth of the side:
/// a line or a plate in the middle would lie on edges or faces of boxes on all levels, where
/// expansions converge slowly, so it lies at a third, also where the cube is inflated.
Hull bounding_cube(std::span<const Vec3d> points);
Hull bounding_cube(Vec3d low, Vec3d high);

/// Points in Morton order.
struct MortonOrder {
  Hull cube;
  LargeVector<std::uint64_t> keys;  ///< [n], ascending
  LargeVector<std::int64_t> order;  ///< [n], order[k] is the index of the k-th point
};

/// Sorts the points by key (ties by index). O(n log n).
/// Throws InputError for non-finite coordinates.
MortonOrder morton_order(std::span<const Vec3d> points);

/// Splits the root until a leaf holds at most max_leaf of the ascending keys or the deepest level
/// is reached: [n_leaves + 1] offsets into the keys; no leaf is empty. Throws InputError for
/// max_leaf < 1.
std::vector<std::int64_t> octree_leaves(std::span<const std::uint64_t> keys, int max_leaf);

}  // namespace fmbem
