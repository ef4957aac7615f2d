#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/lists/near_lists.hpp"

namespace fmbem::fmm {

/// What interacts in a tree, and how. A treecode walks instead (treecode_walk.hpp); a hybrid would
/// add two members: multipoles that act on points (M2P), and points that act on local expansions
/// (P2L).
struct InteractionLists {
  /// Sources that act on targets one by one.
  NearLists p2p;
  /// [levels]: boxes that are not leaves. The children of each receive from those of its
  /// colleagues, by orbits (expansion/translations.hpp).
  std::vector<std::vector<std::int32_t>> m2l;
  std::vector<std::int32_t> source_boxes;  ///< boxes with sources of their own
};

/// All lists of a tree.
InteractionLists interaction_lists(const Octree& tree, const SortedPoints& sources,
                                   const SortedPoints& targets);

}  // namespace fmbem::fmm
