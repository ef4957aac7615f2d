#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem::fmm {

/// Points in Morton order: coordinates as a structure of arrays.
struct SortedPoints {
  LargeVector<std::uint64_t> keys;  ///< [n], ascending
  LargeVector<std::int32_t> order;  ///< [n], order[k] is the input index of the k-th point
  LargeVector<double> x, y, z;      ///< [n]
  /// [n], or empty if all are points: deepest level that each may sink to. Its key then has the
  /// bits of that level alone, and it stands before all that may sink deeper in its box.
  LargeVector<std::int8_t> deepest;

  std::size_t size() const { return keys.size(); }
  int deepest_of(std::int64_t k) const { return deepest.empty() ? deepest_level : deepest[k]; }
};

/// Points times `unit`, sorted by key in that root, ties by index. `deepest` is as in SortedPoints,
/// in the order of the points.
SortedPoints sort_points(std::span<const Vec3d> points, double unit, const Cube& root,
                         std::span<const std::int8_t> deepest = {});

/// Their sorted keys alone, of which trees can be made that are only to be counted.
SortedPoints sort_keys(std::span<const Vec3d> points, double unit, const Cube& root);

/// A range of sorted points.
struct Range {
  std::int32_t begin = 0, end = 0;
  std::int32_t size() const { return end - begin; }
};

/// One node of the octree.
struct Box {
  std::array<std::int32_t, 3> cell{};  ///< place in the grid of its level
  std::int32_t level = 0;
  std::int32_t parent = -1;
  std::array<std::int32_t, 8> child;  ///< by octant (bit 2, 1, 0: upper in x, y, z); −1 if empty
  Range sources, targets;
  std::int32_t held = 0;  ///< the first of the sources, which may not sink below this box
  bool is_leaf = true;

  /// Sources that no child has: all of a leaf, else those that it holds.
  Range own_sources() const {
    return {sources.begin, is_leaf ? sources.end : sources.begin + held};
  }
};

/// An adaptive octree without empty boxes, level by level and in Morton order within a level.
///
/// Graded: where a box of level l + 1 is split, all colleagues of its parent are split. So adjacent
/// leaves differ by one level at most (the 2:1 balance), and leaves that are neither adjacent nor
/// separated by M2L on their level are a level apart: they are summed directly (docs/fmm.md).
struct Octree {
  Cube root;
  std::vector<Box> boxes;
  std::vector<std::int32_t> level_begin;  ///< [levels + 1]
  /// [boxes][27]: boxes of the same level that touch this one, itself at 13; −1 where there is
  /// none. The one displaced by (i, j, k) boxes is at 9(i+1) + 3(j+1) + k+1.
  LargeVector<std::array<std::int32_t, 27>> colleagues;

  int levels() const { return static_cast<int>(level_begin.size()) - 1; }
  double side(int level) const;
  /// Centre of a box less the root's corner, which is to be subtracted from points first: far from
  /// the origin the centre itself is not a number of double precision.
  Vec3d centre_from_corner(const Box& box) const;
};

/// Splits every box with more than max_leaf targets, or sources that may sink, down to the deepest
/// level, and where the grading asks for it. Either kind of points may be the other (the same
/// object).
Octree build_octree(const Cube& root, const SortedPoints& sources, const SortedPoints& targets,
                    int max_leaf);

/// Boxes whose own sources act directly on the targets of each leaf, in compressed rows.
struct NearLists {
  std::vector<std::int32_t> targets;  ///< [rows], leaves with targets
  std::vector<std::int64_t> begin;    ///< [rows + 1]
  std::vector<std::int32_t> sources;  ///< boxes with sources of their own
};

/// The colleagues that are leaves, the children of those that are not, and the parent's colleagues
/// that are leaves: lists U, W and X of Cheng, Greengard and Rokhlin (1999); also those colleagues
/// of the leaf and its ancestors that hold sources. A leaf of the deepest level is not near to
/// itself if all it has is points that coincide.
NearLists near_lists(const Octree& tree, const SortedPoints& sources, const SortedPoints& targets);

/// Sources that act directly on each target of that row.
std::int64_t near_sources(const Octree& tree, const NearLists& lists, std::size_t row);
/// Source-target pairs of the lists, self pairs included.
std::int64_t near_pairs(const Octree& tree, const NearLists& lists);

}  // namespace fmbem::fmm
