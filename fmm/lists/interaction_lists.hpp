#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/lists/hybrid_lists.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"

namespace fmbem::fmm {

/// What interacts in a tree, and how. A treecode walks instead (treecode_walk.hpp).
struct InteractionLists {
  /// Sources that act on targets one by one.
  NearLists p2p;
  /// [levels]: boxes that are not leaves. The children of each receive from those of its
  /// colleagues, by orbits (expansion/translations.hpp).
  std::vector<std::vector<std::int32_t>> m2l;
  std::vector<std::int32_t> source_boxes;  ///< boxes with sources of their own
  HybridLists hybrid;                      ///< what a hybrid has besides
};

/// [levels]: boxes that are not leaves.
std::vector<std::vector<std::int32_t>> parents_by_level(const Octree& tree);

/// Boxes with sources of their own, ascending.
std::vector<std::int32_t> boxes_with_sources(const Octree& tree);

/// All lists of a tree, in which what is farther apart than the reach is not near.
InteractionLists interaction_lists(const Octree& tree, const SortedPoints& sources,
                                   const SortedPoints& targets, double reach = endless);

}  // namespace fmbem::fmm
