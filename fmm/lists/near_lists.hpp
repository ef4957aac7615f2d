#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/lists/reach.hpp"
#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// Boxes whose own sources act directly on the targets of each leaf, in compressed rows.
struct NearLists {
  std::vector<std::int32_t> targets;  ///< [rows], leaves with targets
  std::vector<std::int64_t> begin;    ///< [rows + 1]
  LargeVector<std::int32_t> sources;  ///< boxes with sources of their own
};

/// Near to a leaf are its colleagues that are leaves, the children and grandchildren of those that
/// are not, and the colleagues of its parent and grandparent that are leaves: lists U, W and X of
/// Cheng, Greengard and Rokhlin (1999), as leaves that are near are two levels apart at most
/// (merge_leaves.hpp). So are the colleagues of the leaf and of its ancestors that hold sources. A
/// leaf of the deepest level is not near to itself if all its points coincide. Boxes beyond the
/// reach are left out.
NearLists near_lists(const Octree& tree, const SortedPoints& sources, const SortedPoints& targets,
                     double reach = endless);

/// Leaves with targets, ascending.
std::vector<std::int32_t> leaves_with_targets(const Octree& tree);

/// Whether all points of a box of the deepest level coincide, so that none acts on another.
bool is_one_place(const Octree& tree, const Box& box, const SortedPoints& sources,
                  const SortedPoints& targets);

/// Sources that act directly on each target of a row.
std::int64_t near_sources(const Octree& tree, const NearLists& lists, std::size_t row);
/// Source-target pairs of all lists, pairs of a point with itself included.
std::int64_t near_pairs(const Octree& tree, const NearLists& lists);

}  // namespace fmbem::fmm
