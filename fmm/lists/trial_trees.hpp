#pragma once

#include <span>
#include <vector>

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// What a tree asks of an evaluation.
struct TreeWork {
  double points = 0;        ///< mean of the numbers of sources and targets
  double boxes = 0;         ///< of the tree
  double m2l_rows = 0;      ///< as m2l_rows()
  bool has_far = false;     ///< whether there are more than two levels
  double near_pairs = 0;    ///< as near_pairs(), as if all points of a deepest leaf coincided
  double near_sources = 0;  ///< sources of all rows of the near lists
  double near_boxes = 0;    ///< entries of the near lists
};

inline constexpr int most_trial_trees = 16;

/// That of each tree that build_octree() makes of the same points with these numbers of points a
/// leaf (ascending, at most most_trial_trees), from the finest of them: its boxes are all that the
/// others have, and whether one is split, grading included, is a matter of one number, in how many
/// of the trees it is.
std::vector<TreeWork> work_of_trees(const Octree& finest, std::span<const int> max_leaf);

}  // namespace fmbem::fmm
