#pragma once

// The products of a stored near field with several vectors.
#include "fmbem/bem/near/cuda/several_vectors.cuh"
#include "fmbem/bem/near/cuda/transposed_lists.cuh"

namespace fmbem::cuda::bem {

/// A block for each row of the near field. `vectors`: up to tile_vectors.
template <class Entry>
__global__ void __launch_bounds__(several_threads, several_blocks<Entry>)
    multiply_stored_together(const __grid_constant__ NearRowsView a, const Entry* entries,
                             const std::int64_t* panels_begin, const std::int32_t* all_panels,
                             const double* x, int vectors, const double* factor, double* y) {
  auto& shared = static_shared<SeveralVectors>();
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = size_of(targets);
  const std::int32_t* const panels = all_panels + panels_begin[row];
  multiply_together(
      entries + a.pairs_before[row], n, static_cast<int>(panels_begin[row + 1] - panels_begin[row]),
      shared,
      [&](int term, int place) {
        put_strengths(shared, place, vectors, a.panels, x + panels[term]);
      },
      [&](int i, int v, double sum) {
        if (v < vectors) y[v * a.targets.count + targets.x + i] = factor[v] * sum;
      });
}

/// A block for each box with sources of its own, as multiply_stored_transposed() has it: the
/// targets of all rows near to it go through shared memory, and the warps divide these.
template <class Entry>
__global__ void __launch_bounds__(several_threads, several_blocks<Entry>)
    multiply_stored_transposed_together(const __grid_constant__ NearRowsView a,
                                        const Entry* entries,
                                        const __grid_constant__ NearTilesView near, const double* x,
                                        int vectors, const double* factor, double* y) {
  struct Targets {
    SeveralVectors strengths;
    const Entry* entry[several_room];  ///< in the first column
    std::int32_t stride[several_room];
  };
  auto& shared = static_shared<Targets>();
  const int2 own = a.tree.own_sources(near.boxes[blockIdx.x]);
  const NearTile* const tiles = near.tiles + near.begin[blockIdx.x];
  const auto n_tiles = static_cast<int>(near.begin[blockIdx.x + 1] - near.begin[blockIdx.x]);
  for (int done = 0; done < size_of(own); done += most_tiles * tile_rows)
    for_tiles(size_of(own) - done, [&]<int Tiles>(std::integral_constant<int, Tiles>) {
      SeveralSums<Tiles> sums;
      int column[Tiles];
#pragma unroll
      for (int t = 0; t < Tiles; ++t)
        column[t] = min(done + t * tile_rows + sums.row(), size_of(own) - 1);
      for_ranges(
          n_tiles, [&](int k) { return a.targets_of(tiles[k].row); }, several_room,
          [&](int at, int place, int k) {
            const NearTile tile = tiles[k];
            const int2 targets = a.targets_of(tile.row);
            const int n = size_of(targets);
            shared.entry[place] = entries + a.pairs_before[tile.row] +
                                  static_cast<std::int64_t>(tile.first) * n + at - targets.x;
            shared.stride[place] = n;
            put_strengths(shared.strengths, place, vectors, a.targets.count,
                          x + a.targets.order[at]);
          },
          [&](int some) {
            add_products(
                shared.strengths, some, sums,
                [&](int place) { return std::pair(shared.entry[place], shared.stride[place]); },
                [&](const auto& of_target, int t) {
                  return of_target.first[std::int64_t{column[t]} * of_target.second];
                });
          });
      sums.write(shared.strengths, [&](int of_chunk, int v, double total) {
        if (done + of_chunk < size_of(own) && v < vectors)
          y[v * a.panels + a.source_order[own.x + done + of_chunk]] = factor[v] * total;
      });
    });
}

}  // namespace fmbem::cuda::bem
