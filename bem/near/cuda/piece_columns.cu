// Which panels have pieces near to a row.
#include "fmbem/bem/near/cuda/piece_near_field.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

constexpr int bits_of_a_piece = 32;

/// In keys, of pieces of panels that are cut: whole panels stand before them in a row, so that
/// warps do work of one kind.
constexpr std::uint32_t cut_flag = std::uint32_t{1} << 31;

__device__ inline std::int32_t piece_in(std::uint64_t key) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(key) & ~cut_flag);
}

/// A warp for each row: its near pieces, with the row in the upper half.
__global__ void make_keys(const std::int64_t* begin, const std::int32_t* piece, std::int64_t rows,
                          PiecesView pieces, std::uint64_t* key) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows) return;
  for (std::int64_t k = begin[row] + threadIdx.x % warp_size; k < begin[row + 1]; k += warp_size)
    key[k] = static_cast<std::uint64_t>(row) << bits_of_a_piece |
             (pieces.is_cut(pieces.panel[piece[k]]) ? cut_flag : 0) |
             static_cast<std::uint32_t>(piece[k]);
}

__device__ inline bool begins_column(const std::uint64_t* key, std::int64_t k,
                                     const PiecesView& pieces) {
  if (k == 0 || key[k] >> bits_of_a_piece != key[k - 1] >> bits_of_a_piece) return true;
  return pieces.panel[piece_in(key[k])] != pieces.panel[piece_in(key[k - 1])];
}

__global__ void flag_columns(const std::uint64_t* key, std::int64_t n, PiecesView pieces,
                             std::int64_t* flag) {
  const std::int64_t k = thread_index();
  if (k <= n) flag[k] = k < n && begins_column(key, k, pieces);
}

/// `column`: how many columns begin before each key.
__global__ void fill_columns(const std::uint64_t* key, std::int64_t n, PiecesView pieces,
                             const std::int64_t* column, std::int32_t* piece, std::int32_t* panel,
                             std::int64_t* pieces_begin) {
  const std::int64_t k = thread_index();
  if (k > n) return;
  if (k == n) {
    pieces_begin[column[n]] = n;
    return;
  }
  piece[k] = piece_in(key[k]);
  if (!begins_column(key, k, pieces)) return;
  panel[column[k]] = pieces.panel[piece[k]];
  pieces_begin[column[k]] = k;
}

/// Where the columns of each row begin, and how many entries it has.
__global__ void find_rows(NearRowsView a, const std::int64_t* sources_begin,
                          const std::int64_t* column, std::int64_t rows, std::int64_t* begin,
                          std::int64_t* entries) {
  const std::int64_t row = thread_index();
  if (row > rows) return;
  begin[row] = column[sources_begin[row]];
  entries[row] = 0;
  if (row == rows) return;
  const int2 targets = a.targets_of(row);
  entries[row] = (column[sources_begin[row + 1]] - begin[row]) * (targets.y - targets.x);
}

}  // namespace

PieceColumns::PieceColumns(const PanelStore& panels, const SpreadTree& tree,
                           const DevicePieces& pieces, cudaStream_t stream) {
  const std::int64_t rows = tree.rows();
  const NearRowsView view = rows_of(panels, tree, {});
  const RowSources sources(view, rows, stream);
  const auto n = static_cast<std::int64_t>(sources.source.size());
  DeviceBuffer<std::uint64_t> key(n, stream), sorted(n, stream);
  launch(make_keys, blocks_for(rows, warps_per_block), threads_per_block, 0, stream,
         sources.begin.data(), sources.source.data(), rows, pieces.view(), key.data());
  int bits = bits_of_a_piece;
  while (std::int64_t{1} << (bits - bits_of_a_piece) < rows) ++bits;
  sort_keys(key.data(), sorted.data(), n, bits, stream);
  DeviceBuffer<std::int64_t> flag(n + 1, stream), column(n + 1, stream);
  launch(flag_columns, blocks_for(n + 1), threads_per_block, 0, stream, sorted.data(), n,
         pieces.view(), flag.data());
  exclusive_sum(flag.data(), column.data(), n + 1, stream);
  const std::int64_t columns = download_one(column.data() + n, stream);
  piece = DeviceBuffer<std::int32_t>(n, stream);
  panel = DeviceBuffer<std::int32_t>(columns, stream);
  pieces_begin = DeviceBuffer<std::int64_t>(columns + 1, stream);
  launch(fill_columns, blocks_for(n + 1), threads_per_block, 0, stream, sorted.data(), n,
         pieces.view(), column.data(), piece.data(), panel.data(), pieces_begin.data());
  begin = DeviceBuffer<std::int64_t>(rows + 1, stream);
  entries_before = DeviceBuffer<std::int64_t>(rows + 1, stream);
  DeviceBuffer<std::int64_t> of_row(rows + 1, stream);
  launch(find_rows, blocks_for(rows + 1), threads_per_block, 0, stream, view, sources.begin.data(),
         column.data(), rows, begin.data(), of_row.data());
  exclusive_sum(of_row.data(), entries_before.data(), rows + 1, stream);
  entries = download_one(entries_before.data() + rows, stream);
}

}  // namespace fmbem::cuda::bem
