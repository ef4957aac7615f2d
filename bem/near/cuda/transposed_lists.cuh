#pragma once

#include <optional>

#include "fmbem/bem/near/cuda/grouped.cuh"
#include "fmbem/cuda/spread_tree.cuh"

namespace fmbem::cuda::bem {

struct PieceColumns;

/// Near pairs of a box's own sources with the targets of a row.
struct NearTile {
  std::int32_t row;
  std::int32_t first;  ///< of the row's columns, the box's first
};

/// What kernels see of TransposedLists: a block works on a box, that is on its own sources.
struct NearTilesView {
  const std::int32_t* boxes;  ///< with sources of their own
  std::int64_t n_boxes;
  const std::int64_t* begin;  ///< [boxes + 1]
  const NearTile* tiles;      ///< of each box, in the order of the rows
};

/// The near lists of a tree by their sources, for transposed products. Their entries are tiles (a
/// box's own sources and a row) or, with pieces, whose panels have no box of their own, the columns
/// of each panel.
struct TransposedLists {
  /// `piece_columns` are null where no panel is cut; `panels` is how many are sources. Waits for
  /// the stream.
  TransposedLists(const SpreadTree& tree, const PieceColumns* piece_columns, std::int64_t panels,
                  cudaStream_t stream);

  M2lRows m2l;
  DeviceBuffer<std::int64_t> tiles_begin;
  DeviceBuffer<NearTile> tiles;
  std::optional<Grouped> columns;  ///< of each panel

  NearTilesView tiles_of(const SpreadTree& tree) const {
    return {tree.far.source_boxes.data(), static_cast<std::int64_t>(tree.far.source_boxes.size()),
            tiles_begin.data(), tiles.data()};
  }
  std::int64_t bytes() const {
    return m2l.bytes() + tiles_begin.bytes() + tiles.bytes() +
           (columns ? columns->begin.bytes() + columns->number.bytes() : 0);
  }
};

}  // namespace fmbem::cuda::bem
