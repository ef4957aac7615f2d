#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/lists/near_lists.hpp"

namespace fmbem::fmm {

/// What interacts in a tree, and how. Multipoles that act on points and points that act on local
/// expansions (M2P and P2L, of a treecode or a hybrid) are to be two members more.
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
