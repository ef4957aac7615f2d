#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/tree/merge_leaves.hpp"
#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::test {

/// What the GPU lists for its near field by Newton's third law in single precision, copied to the
/// host; fields are those of cuda::MutualRow, cuda::NearEntry, cuda::EarlierSums and
/// cuda::CloseTarget.
struct HostMutualLists {
  struct Row {
    std::int64_t later_begin, slot_begin, earlier_begin;
    std::int32_t later, later_sources;
  };
  struct Entry {
    std::int32_t begin, count;
  };
  struct Earlier {
    std::int64_t slot;
    std::int32_t doublings;
  };
  struct Close {
    std::int32_t target, row;
    auto operator<=>(const Close&) const = default;
  };
  std::vector<std::int32_t> order;       ///< of the points
  std::vector<fmm::Range> leaves;        ///< points of each row
  std::vector<int> level;                ///< [rows]
  std::vector<std::int32_t> items;       ///< [rows], as of cuda::NearItem
  std::vector<std::int64_t> near_begin;  ///< [rows + 1]
  std::vector<Entry> near;
  std::vector<Row> rows;  ///< [rows + 1]
  std::vector<Earlier> earlier;
  std::vector<Close> close;
  std::int64_t slots = 0;
};

/// Of a tree of points with so many targets of an item at most.
HostMutualLists make_mutual_lists_on_device(const Cube& root, const std::vector<Vec3d>& points,
                                            int max_leaf, int most, fmm::Leaves leaves);

}  // namespace fmbem::test
