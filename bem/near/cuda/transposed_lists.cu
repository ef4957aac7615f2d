#include "fmbem/bem/near/cuda/piece_near_field.cuh"
#include "fmbem/bem/near/cuda/transposed_lists.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Each box's number at the place of its first own source: entries of near lists begin there.
__global__ void number_boxes(TreeView tree, const std::int32_t* boxes, std::int64_t n,
                             std::int32_t* box_at) {
  const std::int64_t b = thread_index();
  if (b < n) box_at[tree.own_sources(boxes[b]).x] = static_cast<std::int32_t>(b);
}

__global__ void make_tiles(NearListsView lists, std::int64_t rows, const std::int32_t* box_at,
                           std::int32_t* box, NearTile* tiles) {
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  std::int32_t first = 0;
  for (std::int64_t e = lists.begin[row]; e < lists.begin[row + 1]; ++e) {
    const NearEntry entry = lists.entries[e];
    box[e] = box_at[entry.begin];
    tiles[e] = {static_cast<std::int32_t>(row), first};
    first += entry.count;
  }
}

__global__ void reorder(const NearTile* tiles, const std::int32_t* number, std::int64_t n,
                        NearTile* reordered) {
  const std::int64_t k = thread_index();
  if (k < n) reordered[k] = tiles[number[k]];
}

}  // namespace

TransposedLists::TransposedLists(const SpreadTree& tree, const PieceColumns* piece_columns,
                                 std::int64_t panels, cudaStream_t stream)
    : m2l(make_m2l_rows(tree.tree, tree.tree.view().transposed(), stream)) {
  if (piece_columns) {
    columns.emplace(piece_columns->panel, panels, stream);
  } else {
    const auto boxes = static_cast<std::int64_t>(tree.far.source_boxes.size()),
               n = static_cast<std::int64_t>(tree.near.entries.size());
    DeviceBuffer<std::int32_t> box_at(tree.sources(), stream), box(n, stream);
    DeviceBuffer<NearTile> by_row(n, stream);
    launch(number_boxes, blocks_for(boxes), threads_per_block, 0, stream, tree.tree.view(),
           tree.far.source_boxes.data(), boxes, box_at.data());
    launch(make_tiles, blocks_for(tree.rows()), threads_per_block, 0, stream, tree.near.view(),
           tree.rows(), box_at.data(), box.data(), by_row.data());
    Grouped by_box(box, boxes, stream);
    tiles = DeviceBuffer<NearTile>(n, stream);
    launch(reorder, blocks_for(n), threads_per_block, 0, stream, by_row.data(),
           by_box.number.data(), n, tiles.data());
    tiles_begin = std::move(by_box.begin);
  }
  FMBEM_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace fmbem::cuda::bem
