#include "fmbem/fmm/lists/displacements.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "fmbem/fmm/expansion/yukawa_translations.hpp"

namespace fmbem::fmm {
namespace {

/// The level, or 0 where operators serve all, and the displacement.
using OperatorKey = std::pair<int, BoxSteps>;
using PlacedPair = std::pair<OperatorKey, DisplacedPair>;

PlacedPair placed_pair(const Box& to, const Box& from, DisplacedLevels levels, DisplacedPair pair) {
  BoxSteps steps;
  for (int axis = 0; axis < 3; ++axis) {
    const auto step = static_cast<int>(to.cell[axis] - from.cell[axis]);
    steps[axis] = std::abs(step);
    pair.mirror |= (step < 0) << (2 - axis);
  }
  return {{levels == DisplacedLevels::apart ? to.level : 0, steps}, pair};
}

/// The pairs of the chunk's targets; returns the operator of each run.
std::vector<OperatorKey> fill_chunk(const PointTree& tree, DisplacedLevels levels,
                                    DisplacedChunk& chunk) {
  const auto& boxes = tree.octree.boxes;
  std::vector<PlacedPair> placed;
  for (std::size_t t = 0; t < chunk.targets.size(); ++t) {
    const std::int32_t box = chunk.targets[t];
    for (const std::int32_t source : tree.lists.hybrid.m2l[box])
      placed.push_back(placed_pair(boxes[box], boxes[source], levels,
                                   {static_cast<std::int32_t>(t), source, 0}));
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const PlacedPair& a, const PlacedPair& b) { return a.first < b.first; });
  std::vector<OperatorKey> of_runs;
  chunk.pairs.reserve(placed.size());
  for (const auto& [key, pair] : placed) {
    if (of_runs.empty() || of_runs.back() != key) {
      of_runs.push_back(key);
      chunk.runs.emplace_back();
    }
    chunk.pairs.push_back(pair);
    chunk.runs.back().end = static_cast<std::int32_t>(chunk.pairs.size());
  }
  return of_runs;
}

}  // namespace

DisplacedPairs displaced_pairs(const PointTree& tree, std::size_t most_targets,
                               std::size_t most_pairs, DisplacedLevels levels) {
  DisplacedPairs all;
  std::size_t pairs = 0;  // of the last chunk
  for (std::size_t b = 0; b < tree.octree.boxes.size(); ++b) {
    const auto box = static_cast<std::int32_t>(b);
    const std::size_t more = tree.lists.hybrid.m2l[box].size();
    if (more == 0) continue;
    if (all.chunks.empty() || all.chunks.back().targets.size() == most_targets ||
        pairs + more > most_pairs) {
      all.chunks.emplace_back();
      pairs = 0;
    }
    all.chunks.back().targets.push_back(box);
    pairs += more;
  }
  std::vector<std::vector<OperatorKey>> of_runs(all.chunks.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t c = 0; c < all.chunks.size(); ++c)
    of_runs[c] = fill_chunk(tree, levels, all.chunks[c]);
  std::vector<OperatorKey> known;
  for (const auto& some : of_runs) {
    const auto before = static_cast<std::ptrdiff_t>(known.size());
    known.insert(known.end(), some.begin(), some.end());
    std::inplace_merge(known.begin(), known.begin() + before, known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
  }
#pragma omp parallel for schedule(static)
  for (std::size_t c = 0; c < all.chunks.size(); ++c)
    for (std::size_t r = 0; r < of_runs[c].size(); ++r)
      all.chunks[c].runs[r].displacement = static_cast<std::int32_t>(
          std::lower_bound(known.begin(), known.end(), of_runs[c][r]) - known.begin());
  for (const auto& [level, steps] : known) {
    all.displacements.push_back(steps);
    if (levels == DisplacedLevels::apart) all.levels.push_back(level);
  }
  return all;
}

void for_displaced_operators(
    const ParityOrder& order, std::span<const BoxSteps> displacements,
    const std::function<void(std::size_t, const std::vector<double>&)>& use,
    std::span<const double> kappas) {
#pragma omp parallel
  {
    std::vector<double> block;
    ComplexParts room;
#pragma omp for schedule(dynamic, 1)
    for (std::size_t k = 0; k < displacements.size(); ++k) {
      const auto [x, y, z] = displacements[k];
      m2l_between(order, Yukawa{kappas.empty() ? 0 : kappas[k]}, {1.0 * x, 1.0 * y, 1.0 * z}, block,
                  room);
      use(k, block);
    }
  }
}

}  // namespace fmbem::fmm
