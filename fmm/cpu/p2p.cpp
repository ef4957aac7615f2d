// P2P: direct sums over near sources.
#include <algorithm>
#include <numeric>

#include "fmbem/fmm/cpu/leaf_targets.hpp"

namespace fmbem::fmm {
namespace {

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

/// Puts the near field of the boxes that are wanted where the results of the targets
/// work.targets.index are, which are in the leaf of that row, or adds it to these.
template <class N, class T, class Wanted>
void p2p_targets(Pass<T>& pass, std::size_t row, NearWork<N, T>& work, Wanted&& takes, bool adds) {
  const Octree& octree = pass.tree.octree;
  const NearLists& near = pass.tree.lists.p2p;
  const Box& leaf = octree.boxes[near.targets[row]];
  const double unit = NearCoordinates<N>::scale(octree, leaf.level);
  LeafTargets<N>& targets = work.targets;
  targets.fill(pass, work.places, leaf, work.width);
  const auto flush = [&] { targets.take(pass, work.tile, work.width, unit); };
  for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) {
    const Box& box = octree.boxes[near.sources[k]];
    if (!takes(leaf, box)) continue;
    Range range = box.own_sources();
    while (range.size() > 0) {
      range = work.tile.take(range, box, leaf);
      if (work.tile.is_full()) flush();
    }
  }
  flush();
  targets.write(pass, work.first_vector, work.width, unit, adds);
}

constexpr auto all_boxes = [](const Box&, const Box&) { return true; };
constexpr auto held_boxes = [](const Box& leaf, const Box& box) {
  return integers_hold(leaf, box);
};
constexpr auto boxes_beyond = [](const Box& leaf, const Box& box) {
  return !held_boxes(leaf, box);
};

/// Adds, in double precision, the boxes that integers do not hold.
template <class T>
void add_boxes_beyond(Pass<T>& pass, std::size_t row, const LeafTargets<float>& done,
                      NearWork<double, T>& work) {
  const auto& boxes = pass.tree.octree.boxes;
  const NearLists& near = pass.tree.lists.p2p;
  const auto first = near.sources.begin() + near.begin[row];
  const auto last = near.sources.begin() + near.begin[row + 1];
  if (std::none_of(first, last, [&](std::int32_t box) {
        return boxes_beyond(boxes[near.targets[row]], boxes[box]);
      }))
    return;
  work.targets.index = done.index;
  p2p_targets(pass, row, work, boxes_beyond, true);
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
  if (!work.targets.index.empty()) p2p_targets(pass, row, work, all_boxes, false);
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
      for (std::size_t k = 0; k < near.blocks.size(); ++k) {
        const auto [row, range] = near.blocks[k];
        work.targets.index.resize(range.size());
        std::iota(work.targets.index.begin(), work.targets.index.end(), range.begin);
        if constexpr (std::is_same_v<N, float>) {
          p2p_targets(pass, row, work, held_boxes, false);
          add_boxes_beyond(pass, row, work.targets, again);
          repeat_close(pass, row, work.targets, again);
        } else {
          p2p_targets(pass, row, work, all_boxes, false);
        }
      }
    }
    first += width;
  }
}

}  // namespace

NearData::NearData(const PointTree& tree, Precision precision, Method method)
    : double_sources(tree.octree, tree.sources, &Box::sources),
      double_targets(tree.octree, tree.targets(), &Box::targets) {
  if (precision == Precision::single_precision) {
    single_sources.emplace(tree.octree, tree.sources, &Box::sources);
    if (!tree.sources_are_targets)
      single_targets.emplace(tree.octree, tree.other_targets, &Box::targets);
  }
  if (tree.sources_are_targets && (method == Method::fmm || method == Method::hybrid))
    chunks = mutual_chunks(tree);
  if (tree.sources_are_targets && method == Method::direct) chunks = direct_chunks(tree);
  const auto& rows = tree.lists.p2p.targets;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (Range left = tree.octree.boxes[rows[row]].targets; left.size() > 0;) {
      const Range taken{left.begin, std::min(left.begin + targets_of_a_block, left.end)};
      blocks.push_back({row, taken});
      left.begin = taken.end;
    }
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
