// P2P: direct sums over near sources.
#include <algorithm>
#include <numeric>

#include "fmbem/fmm/cpu/near_tile.hpp"

namespace fmbem::fmm {
namespace {

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

  void add_tile() {
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < sums[k].size(); ++i) {
        sums[k][i] += tile_sums[k][i];
        tile_sums[k][i] = 0;
      }
    }
  }
};

/// A thread's buffers.
template <class N, class T>
struct NearWork {
  NearWork(const NearData& near, const Pass<T>& pass, int first, int many)
      : places(near.targets<N>()),
        first_vector(first),
        width(many),
        tile(near.sources<N>(), pass, first, many) {}

  const NearCoordinates<N>& places;
  int first_vector, width;
  Tile<N, T> tile;
  LeafTargets<N> targets;
};

/// The near field of the targets work.targets.index, which are in the leaf of that row.
template <class N, class T>
void p2p_targets(Pass<T>& pass, std::size_t row, NearWork<N, T>& work) {
  const Octree& octree = pass.tree.octree;
  const NearLists& near = pass.tree.lists.p2p;
  const Box& leaf = octree.boxes[near.targets[row]];
  const double unit = NearCoordinates<N>::scale(octree, leaf.level);
  LeafTargets<N>& targets = work.targets;
  targets.fill(pass, work.places, leaf, work.width);
  const auto flush = [&] {
    with_kernel(pass.kappa / unit, [&](auto kernel) {
      pair_kernels<N, decltype(kernel)>().near(kernel, work.width, pass.accuracy.root_terms,
                                               work.tile.sources(), targets.view());
    });
    targets.add_tile();
    work.tile.clear();
  };
  for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) {
    const Box& box = octree.boxes[near.sources[k]];
    Range range = box.own_sources();
    while (range.size() > 0) {
      range = work.tile.take(range, box, leaf);
      if (work.tile.is_full()) flush();
    }
  }
  flush();

  const std::int64_t n_targets = static_cast<std::int64_t>(pass.tree.targets().size());
  const int present = std::min(work.width, pass.vectors - work.first_vector);
  for (int result = 0; result < 4; ++result) {
    if (!is_wanted(pass, result)) continue;
    const double scale = unit_of_sum(result, unit);
    for (int v = 0; v < present; ++v)
      for (std::size_t i = 0; i < targets.index.size(); ++i)
        pass.result(result)[(work.first_vector + v) * n_targets + targets.index[i]] =
            scale * targets.sums[result][v * targets.padded + i];
  }
}

/// Repeats, in double precision, the targets with sources that were too close for integers.
template <class T>
void repeat_close(Pass<T>& pass, std::size_t row, const LeafTargets<float>& done,
                  NearWork<double, T>& work) {
  const NearLists& near = pass.tree.lists.p2p;
  const auto first = near.sources.begin() + near.begin[row];
  const auto last = near.sources.begin() + near.begin[row + 1];
  const bool meets_itself =
      pass.tree.sources_are_targets && std::find(first, last, near.targets[row]) != last;
  work.targets.index.clear();
  for (std::size_t i = 0; i < done.index.size(); ++i)
    if (done.close[i] > meets_itself) work.targets.index.push_back(done.index[i]);
  if (!work.targets.index.empty()) p2p_targets(pass, row, work);
}

template <class N, class T>
void p2p_in(const NearData& near, Pass<T>& pass) {
  const int many = near_vectors;
  for (int first = 0; first < pass.vectors;) {
    // Two vectors one by one are faster than four of which two are zero.
    const int width = pass.vectors - first > many / 2 ? many : 1;
    if (width == 1 && !near.chunks.empty() && !pass.has_dipoles()) {
      p2p_mutual<N>(near, pass, first++);
      continue;
    }
#pragma omp parallel
    {
      NearWork<N, T> work(near, pass, first, width);
      NearWork<double, T> again(near, pass, first, width);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < pass.tree.lists.p2p.targets.size(); ++row) {
        const Range range = pass.tree.octree.boxes[pass.tree.lists.p2p.targets[row]].targets;
        work.targets.index.resize(range.size());
        std::iota(work.targets.index.begin(), work.targets.index.end(), range.begin);
        p2p_targets(pass, row, work);
        if constexpr (std::is_same_v<N, float>) repeat_close(pass, row, work.targets, again);
      }
    }
    first += width;
  }
}

}  // namespace

NearData::NearData(const PointTree& tree, Precision precision)
    : double_sources(tree.octree, tree.sources, &Box::sources),
      double_targets(tree.octree, tree.targets(), &Box::targets) {
  if (precision == Precision::single_precision) {
    single_sources.emplace(tree.octree, tree.sources, &Box::sources);
    if (!tree.sources_are_targets)
      single_targets.emplace(tree.octree, tree.other_targets, &Box::targets);
  }
  if (tree.sources_are_targets) chunks = mutual_chunks(tree);
}

template <class T>
void p2p(const NearData& near, Pass<T>& pass) {
  if (pass.accuracy.near_precision == Precision::single_precision)
    p2p_in<float>(near, pass);
  else
    p2p_in<double>(near, pass);
}

template void p2p(const NearData&, Pass<double>&);
template void p2p(const NearData&, Pass<float>&);

}  // namespace fmbem::fmm
