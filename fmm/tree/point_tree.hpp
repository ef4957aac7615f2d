#pragma once

#include "fmbem/fmm/lists/interaction_lists.hpp"
#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// Sources and targets in the boxes of one octree, and what interacts there: all that does not
/// depend on order and precision, so that evaluations of any accuracy share it.
struct PointTree {
  /// Lengths inside are the caller's times this power of two, which brings the root's side to [1,
  /// 2): no power of a distance then leaves the range of numbers.
  double scale = 1;
  SortedPoints sources{};
  SortedPoints other_targets{};  ///< empty where the sources are the targets
  bool sources_are_targets = true;
  Octree octree{};
  InteractionLists lists{};
  int max_leaf = 1;      ///< points in a leaf, at most
  double inflation = 1;  ///< side of the root over that of the bounding cube

  const SortedPoints& targets() const { return sources_are_targets ? sources : other_targets; }
  /// Makes the lists of the octree, as interaction_lists().
  void make_lists(double reach = endless) {
    lists = interaction_lists(octree, sources, targets(), reach);
  }
};

/// The power of two that brings the hull's side to [1, 2). Throws InputError if there is none.
double scale_for(const Cube& hull);

}  // namespace fmbem::fmm
