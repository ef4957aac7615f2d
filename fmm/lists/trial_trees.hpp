#pragma once

#include <span>
#include <vector>

#include "fmbem/fmm/lists/reach.hpp"
#include "fmbem/fmm/tree/merge_leaves.hpp"

namespace fmbem::fmm {

/// The work that a tree makes for an evaluation.
struct TreeWork {
  double points = 0;        ///< mean of the numbers of sources and targets
  double boxes = 0;         ///< of the tree
  double splits = 0;        ///< boxes that are no leaves
  double expansions = 0;    ///< boxes that have expansions
  double m2l_rows = 0;      ///< as m2l_rows(), of boxes within the reach
  bool has_far = false;     ///< whether there are more than two levels, the last within the reach
  double near_pairs = 0;    ///< as near_pairs(), as if all points of a deepest leaf coincided
  double near_sources = 0;  ///< sources of all rows of the near lists
  double near_boxes = 0;    ///< entries of the near lists

  /// Boxes that a split makes, or 8 if there is none.
  double branching() const { return splits > 0 ? (boxes - 1) / splits : 8; }
};

inline constexpr int most_trial_trees = 24;

/// The work of each tree that build_octree() would make of the same points with these leaf sizes
/// (ascending, at most most_trial_trees), with merge_leaves() or without, counted in the finest
/// tree of build_octree(), which has all boxes of the others. A box is split in the first so many
/// trees, and one number for each box, grading included, says in how many; another says in how many
/// of these its split asks for the grading.
/// Boxes that are farther apart than the reach do not act, unless they are near.
std::vector<TreeWork> work_of_trees(const Octree& finest, std::span<const int> max_leaf,
                                    Leaves leaves, double reach = endless);

}  // namespace fmbem::fmm
