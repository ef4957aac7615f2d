#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/cpu/near_tile.hpp"

namespace fmbem::fmm {

/// Some targets of a leaf, the sums of one tile of sources, and those of all tiles.
template <class N>
struct LeafTargets {
  std::vector<std::int32_t> index;  ///< of the sorted points
  std::array<std::vector<typename NearCoordinate<N>::Type>, 3> place;
  NearSums<N> tile_sums;  ///< [width][padded]
  NearSums<double> sums;
  std::vector<std::int32_t> close;  ///< sources that were left out as too close
  int padded = 0;

  /// Makes the points of `index` the targets.
  template <class T>
  void fill(const Pass<T>& pass, const NearCoordinates<N>& places, const Box& leaf, int width) {
    const int n = static_cast<int>(index.size());
    padded = whole_registers(cpu_kernels<N>(), n);
    for (auto& axis : place) axis.assign(padded, 0);
    for (int i = 0, next; i < n; i = next) {
      next = i + 1;
      while (next < n && index[next] == index[next - 1] + 1) ++next;
      const NearRange piece = near_range({index[i], index[next - 1] + 1}, leaf, leaf);
      cpu_kernels<N>().gather(&piece, 1, arrays_of<N>(places, nullptr),
                              {{&place[0][i], &place[1][i], &place[2][i]}, nullptr});
    }
    close.assign(padded, 0);
    const std::size_t results = static_cast<std::size_t>(padded) * width;
    for (int k = 0; k < 4; ++k) {
      if (!is_wanted(pass, k)) continue;
      tile_sums[k].assign(results, N(0));
      sums[k].assign(results, 0.0);
    }
  }

  NearTargets<N> view() {
    return {padded,
            place[0].data(),
            place[1].data(),
            place[2].data(),
            pointer(tile_sums[0]),
            pointer(tile_sums[1]),
            pointer(tile_sums[2]),
            pointer(tile_sums[3]),
            close.data()};
  }

  /// Adds what the tile's sources give, in coordinates of that unit, and empties the tile.
  template <class T>
  void take(const Pass<T>& pass, Tile<N, T>& tile, int width, double unit) {
    with_pair_kernel(pass.kappa / unit, pass.softening * unit, [&](auto kernel) {
      pair_kernels<N, decltype(kernel)>().near(kernel, width, pass.accuracy.root_terms,
                                               tile.sources(), view());
    });
    add_tile();
    tile.clear();
  }

  /// Puts the sums where the results of these right-hand sides are, or adds them to these.
  template <class T>
  void write(Pass<T>& pass, int first_vector, int width, double unit, bool adds = false) const {
    const auto n_targets = static_cast<std::int64_t>(pass.tree.targets().size());
    const int present = std::min(width, pass.vectors - first_vector);
    for (int result = 0; result < 4; ++result) {
      if (!is_wanted(pass, result)) continue;
      const double scale = unit_of_sum(result, unit);
      for (int v = 0; v < present; ++v)
        for (std::size_t i = 0; i < index.size(); ++i) {
          double& to = pass.result(result)[(first_vector + v) * n_targets + index[i]];
          to = (adds ? to : 0) + scale * sums[result][v * padded + i];
        }
    }
  }

 private:
  void add_tile() {
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < sums[k].size(); ++i) {
        sums[k][i] += tile_sums[k][i];
        tile_sums[k][i] = 0;
      }
    }
  }
};

}  // namespace fmbem::fmm
