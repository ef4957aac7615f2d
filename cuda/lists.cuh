#pragma once

#include "fmbem/cuda/pass.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda {

/// What M2L and L2L go through.
struct M2lRows {
  DeviceBuffer<std::int32_t> parents;      ///< splits with targets, from level 1 on
  DeviceBuffer<std::int32_t> sources;      ///< [parents][26][8], boxes with sources; −1 for none
  std::vector<std::int32_t> parent_begin;  ///< [levels + 1], first parent of each level
  std::int64_t bytes() const { return parents.bytes() + sources.bytes(); }
};
/// Of a view of the tree: its own, or the transposed one. `colleagues`, [boxes], are as
/// fmm::HybridLists::m2l_places: those whose children act; null for all of them.
M2lRows make_m2l_rows(const DeviceTree& tree, const TreeView& view, cudaStream_t stream,
                      const std::uint32_t* colleagues = nullptr);

/// Boxes that the stages go through.
struct FarLists {
  DeviceBuffer<std::int32_t> source_boxes;   ///< with sources that no child has
  DeviceBuffer<std::int32_t> target_leaves;  ///< with targets
  M2lRows m2l;
  std::int64_t bytes() const { return source_boxes.bytes() + target_leaves.bytes() + m2l.bytes(); }
};
/// Without rows of M2L for a treecode; `colleagues` as of make_m2l_rows().
FarLists make_far_lists(const DeviceTree& tree, cudaStream_t stream, bool has_m2l = true,
                        const std::uint32_t* colleagues = nullptr);

/// A view of a tree, and its rows of M2L: which way expansions go.
struct FarPass {
  TreeView tree;
  const M2lRows& m2l;
  bool adds = false;  ///< to local expansions that P2L has begun
};

/// The boxes of one of these lists, for the stages between points and expansions.
inline LeavesView leaves_of(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& boxes) {
  return {tree.view(), tree.root, boxes.data(), static_cast<std::int64_t>(boxes.size())};
}

/// Near lists in compressed rows, one for each of the target leaves, and the work of P2P.
struct NearDeviceLists {
  DeviceBuffer<std::int64_t> begin;
  DeviceBuffer<std::int64_t> pairs_before;  ///< [rows + 1], of the rows before
  DeviceBuffer<NearEntry> entries;
  DeviceBuffer<std::int32_t> own_entries;
  DeviceBuffer<NearItem> items;  ///< none for sources that are not points
  ItemClasses classes{};
  std::int64_t pairs = 0;
  /// For Newton's third law: [rows + 1], empty where it is not taken; and where the last row ends.
  DeviceBuffer<MutualRow> mutual;
  std::int64_t slots = 0, earlier = 0;
  NearListsView view() const { return {begin.data(), entries.data(), own_entries.data()}; }
  std::int64_t bytes() const {
    return begin.bytes() + pairs_before.bytes() + entries.bytes() + own_entries.bytes() +
           items.bytes() + mutual.bytes();
  }
};
/// The same as fmm::near_lists(), but for the order of a row. `one_place`, [boxes], says which
/// boxes hold only points that coincide; `most` is the number of targets that a warp of P2P takes
/// at most, 0 for no work of P2P.
NearDeviceLists make_near_lists(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                                const DeviceBuffer<std::uint8_t>& one_place, int most,
                                cudaStream_t stream);

/// The same of rows that are given: source boxes of each leaf, [begin[row], begin[row + 1]).
struct NearRows {
  DeviceBuffer<std::int64_t> begin;
  DeviceBuffer<std::int32_t> sources;
  /// Rows of more sources have items of fewer targets, which Newton's third law does not expect.
  std::int64_t long_row;
};
NearDeviceLists near_lists_of(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                              const NearRows& rows, int most, cudaStream_t stream);

/// Points, and their order in a tree.
struct PlacesInOrder {
  const Vec3d* places;
  const std::int32_t* order;
};

/// Which leaves of the deepest level that keys can tell hold sources and targets that all coincide;
/// empty if the tree does not reach it.
DeviceBuffer<std::uint8_t> find_one_places(const DeviceTree& tree, const PlacesInOrder& sources,
                                           const PlacesInOrder& targets, cudaStream_t stream);
/// Whether others of them hold more points than a leaf should. Waits for the device.
bool has_crowded_boxes(const DeviceTree& tree, const DeviceBuffer<std::uint8_t>& one_place,
                       int max_leaf, cudaStream_t stream);

}  // namespace fmbem::cuda
