#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

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
