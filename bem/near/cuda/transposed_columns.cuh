#pragma once

// The transposed product of stored entries with one vector.
#include "fmbem/bem/near/cuda/near_rows.cuh"
#include "fmbem/bem/near/cuda/transposed_lists.cuh"

namespace fmbem::cuda::bem {

/// Threads of a block that multiplies columns, and targets that it has in shared memory.
inline constexpr int column_threads = 256, targets_at_once = 1024;

/// The sums of a block's own sources, those of its box, over the targets of all rows near to it,
/// whose entries are row after row, [near sources][targets]. The block's warps divide the columns,
/// `Columns` each at a time. The targets go through shared memory, so that the block waits for what
/// leads to them once, not for each row. What a warp reads at a time are neighbouring entries of a
/// column. strength(target) is that of a target by number, add(sums, strength, entry) adds to the
/// `Sums` numbers of a column, and write(source, sums) gets each column's once, by number.
template <int Columns, int Sums, class Entry, class Strength, class Add, class Write>
__device__ inline void multiply_columns(const NearRowsView& a, const Entry* entries,
                                        const NearTilesView& near, Strength&& strength, Add&& add,
                                        Write&& write) {
  constexpr int warps = column_threads / warp_size, room = targets_at_once;
  struct Targets {
    decltype(strength(0)) x[room];
    const Entry* entry[room];  ///< in the first column
    std::int32_t stride[room];
  };
  auto& shared = static_shared<Targets>();
  const int2 own = a.tree.own_sources(near.boxes[blockIdx.x]);
  const NearTile* const tiles = near.tiles + near.begin[blockIdx.x];
  const auto n_tiles = static_cast<int>(near.begin[blockIdx.x + 1] - near.begin[blockIdx.x]);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  for (int done = 0; done < size_of(own); done += Columns * warps) {
    const int left = size_of(own) - done - warp;
    double sum[Columns][Sums] = {};
    for_ranges(
        n_tiles, [&](int k) { return a.targets_of(tiles[k].row); }, room,
        [&](int at, int place, int k) {
          const NearTile tile = tiles[k];
          const int2 targets = a.targets_of(tile.row);
          const int n = size_of(targets);
          shared.entry[place] = entries + a.pairs_before[tile.row] +
                                static_cast<std::int64_t>(tile.first + done) * n + at - targets.x;
          shared.stride[place] = n;
          shared.x[place] = strength(a.targets.order[at]);
        },
        [&](int some) {
#pragma unroll 2
          for (int i = lane; i < some; i += warp_size) {
            const Entry* const entry = shared.entry[i];
            const int n = shared.stride[i];
            Entry value[Columns];
#pragma unroll
            for (int c = 0; c < Columns; ++c)
              value[c] = c * warps < left ? entry[(warp + c * warps) * n] : Entry{};
            const auto x = shared.x[i];
#pragma unroll
            for (int c = 0; c < Columns; ++c) add(sum[c], x, value[c]);
          }
        });
#pragma unroll
    for (int c = 0; c < Columns; ++c) {
      if (c * warps >= left) break;
#pragma unroll
      for (int k = 0; k < Sums; ++k)
#pragma unroll
        for (int step = warp_size / 2; step > 0; step /= 2)
          sum[c][k] += __shfl_xor_sync(whole_warp, sum[c][k], step);
      if (lane == 0) write(a.source_order[own.x + done + warp + c * warps], sum[c]);
    }
  }
}

}  // namespace fmbem::cuda::bem
