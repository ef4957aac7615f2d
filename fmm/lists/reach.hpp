#pragma once

#include <limits>

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

// Pairs of Yukawa's kernel that are farther apart than its reach, in the tree's unit, are below all
// errors and are left out.

/// Of Laplace's kernel, whose pairs count however far they are apart.
inline constexpr double endless = std::numeric_limits<double>::infinity();

/// The distance of two boxes, exactly 0 where they touch.
double gap_between(const Octree& tree, const Box& a, const Box& b);

/// Whether all points of two boxes are farther apart than the reach.
inline bool are_beyond(const Octree& tree, const Box& a, const Box& b, double reach) {
  return reach < endless && gap_between(tree, a, b) > reach;
}

/// Whether boxes of a level have expansions: those of boxes that are larger than the reach would be
/// out of range.
inline bool has_expansions(const Octree& tree, int level, double reach) {
  return reach == endless || tree.side(level) <= reach;
}

}  // namespace fmbem::fmm
