#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/tree.cuh"

// What the construction of trees asks of keys, of 64 or of 126 bits.

namespace fmbem::cuda {

/// Key of the colleague at this place (Octree::colleagues) on a level, if it is in the root.
__device__ inline bool colleague_key(Cell cell, int place, int level, std::uint64_t& key) {
  const Cell c{cell.x + place / 9 - 1, cell.y + place / 3 % 3 - 1, cell.z + place % 3 - 1};
  if (min(c.x, min(c.y, c.z)) < 0 || max(c.x, max(c.y, c.z)) >= 1 << level) return false;
  key = grid_key(c);
  return true;
}
__device__ inline bool colleague_key(const fmm::TreeCell& cell, int place, int level,
                                     fmm::TreeKey& key) {
  const fmm::TreeCell c{cell[0] + place / 9 - 1, cell[1] + place / 3 % 3 - 1,
                        cell[2] + place % 3 - 1};
  for (const std::int64_t x : c)
    if (x < 0 || x >= std::int64_t{1} << level) return false;
  key = fmm::key_of(c);
  return true;
}
__device__ inline Cell cell_of(std::uint64_t key) { return grid_cell(key); }
__device__ inline fmm::TreeCell cell_of(fmm::TreeKey key) { return fmm::cell_of(key); }

/// Start of the range of deepest keys in the box with this key on a level.
template <class Key>
__device__ inline Key deepest_key(Key key, int level) {
  return key << 3 * (deepest_level_in<Key> - level);
}

/// The first point from `begin` on that may be in the box of this level with this key, or in a
/// later one. Points that the box's ancestors hold may have the key of its corner; they come first.
template <class Key>
__device__ inline std::int32_t first_in_box(const KeysViewOf<Key>& points, std::int32_t begin,
                                            Key key, int level) {
  const Key corner = deepest_key(key, level);
  std::int32_t first = lower_bound(points.key, begin, points.size, corner);
  if (!points.deepest) return first;
  std::int32_t end = lower_bound(points.key, first, points.size, corner + 1);
  while (first < end) {
    const std::int32_t middle = first + (end - first) / 2;
    if (points.deepest[middle] < level)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/// Points of a box, searched from `begin` on.
template <class Key>
__device__ inline int2 box_range(const KeysViewOf<Key>& points, std::int32_t begin, Key code) {
  const int level = level_of(code);
  const Key key = key_in(code, level);
  const std::int32_t first = first_in_box(points, begin, key, level);
  return make_int2(first,
                   lower_bound(points.key, first, points.size, deepest_key<Key>(key + 1, level)));
}

}  // namespace fmbem::cuda
