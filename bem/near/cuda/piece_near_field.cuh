#pragma once

#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/bem/near/cuda/near_rows.cuh"
#include "fmbem/bem/space/cuda/device_pieces.cuh"

namespace fmbem::cuda::bem {

/// The columns of the near field where panels are cut: each panel that has pieces near to a row
/// once, with those pieces; those that are not cut stand before the others.
struct PieceColumns {
  /// Of the near lists of a tree of the pieces. Waits for the stream.
  PieceColumns(const PanelStore& panels, const SpreadTree& tree, const DevicePieces& pieces,
               cudaStream_t stream);

  DeviceBuffer<std::int64_t> begin;           ///< [rows + 1], columns of each row
  DeviceBuffer<std::int32_t> panel;           ///< [columns]
  DeviceBuffer<std::int64_t> pieces_begin;    ///< [columns + 1]
  DeviceBuffer<std::int32_t> piece;           ///< of each column, ascending
  DeviceBuffer<std::int64_t> entries_before;  ///< [rows + 1], of the rows before
  std::int64_t entries = 0;                   ///< of all rows

  std::int64_t bytes() const {
    return begin.bytes() + panel.bytes() + pieces_begin.bytes() + piece.bytes() +
           entries_before.bytes();
  }
};

/// The near field with cut panels: stored, or integrated in every product. What is handed over must
/// outlive it.
template <class Entry>
std::unique_ptr<NearField> make_stored_piece_near_field(const PanelStore& panels,
                                                        const SpreadTree& tree,
                                                        const DevicePieces& pieces,
                                                        const PieceColumns& columns,
                                                        double tolerance, cudaStream_t stream);
std::unique_ptr<NearField> make_lean_piece_near_field(const PanelStore& panels,
                                                      const SpreadTree& tree,
                                                      const DevicePieces& pieces,
                                                      const PieceColumns& columns, double tolerance,
                                                      cudaStream_t stream);

}  // namespace fmbem::cuda::bem
