#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/sorted_points.hpp"

namespace fmbem::fmm {

/// One node of the octree.
struct Box {
  TreeCell cell{};  ///< place in the grid of its level
  std::int32_t level = 0;
  std::int32_t parent = -1;
  std::array<std::int32_t, 8> child;  ///< by octant (bit 2, 1, 0: upper in x, y, z); −1 if empty
  Range sources, targets;
  std::int32_t held = 0;  ///< the first of the sources, which may not sink below this box
  bool is_leaf = true;

  /// The box's own sources: all of a leaf, and those that any other box holds.
  Range own_sources() const {
    return {sources.begin, is_leaf ? sources.end : sources.begin + held};
  }
};

/// An adaptive octree without empty boxes, level by level and in Morton order within a level.
///
/// Graded: where a box of level l + 1 is split, all colleagues of its parent are split. So adjacent
/// leaves differ by one level at most (the 2:1 balance), and leaves that are neither adjacent nor
/// separated by M2L on their level are a level apart: they are summed directly (docs/theory.md).
struct Octree {
  Cube root;
  int deepest = deepest_tree_level;  ///< level below which no box is split
  LargeVector<Box> boxes;
  std::vector<std::int32_t> level_begin;  ///< [levels + 1]
  /// [boxes][27]: boxes of the same level that touch this one, itself at 13; −1 where there is
  /// none. The one displaced by (i, j, k) boxes is at 9(i+1) + 3(j+1) + k+1.
  LargeVector<std::array<std::int32_t, 27>> colleagues;

  int levels() const { return static_cast<int>(level_begin.size()) - 1; }
  double side(int level) const;
  /// The centre of a box less the root's corner, which has to be subtracted from points first: far
  /// from the origin the centre itself cannot be represented.
  Vec3d centre_from_corner(const Box& box) const;
  /// The centre of box a less that of b, without the rounding of either.
  Vec3d between_centres(const Box& a, const Box& b) const;
};

/// The side of boxes of a level of the unit cube, 2^−level, which has no bits but its exponent's.
double unit_side(int level);
/// The centre of a box in the unit cube.
Vec3d unit_centre(const Box& box);

/// Coordinates as seen from the centre of a box. What rounding takes from the centre and from the
/// difference to the root's corner is kept: both would be seen in deep boxes.
class BoxCentre {
 public:
  BoxCentre(const Octree& tree, const Box& box);

  double operator()(int axis, double x) const {
    const double corner = corner_[axis], from_corner = x - corner, taken = from_corner - x;
    const double lost = (x - (from_corner - taken)) - (corner + taken);  // Knuth's sum of two
    return (from_corner - centre_[axis]) + (lost - rest_[axis]);
  }

 private:
  Vec3d corner_, centre_, rest_;
};

/// Splits every box with more than max_leaf targets, or sources that may sink, down to the deepest
/// level of the sources' keys, and where the grading asks for it. Sources and targets may be the
/// same object.
Octree build_octree(const Cube& root, const SortedPoints& sources, const SortedPoints& targets,
                    int max_leaf);

}  // namespace fmbem::fmm
