#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

// M2L of a hybrid at displacements that the FMM does not have, with one operator for each that
// there is, up to reflections: pairs with the same one are multiplied at once.

/// From the centre of a source box to that of a target box of its level, in sides.
using BoxSteps = std::array<int, 3>;

struct DisplacedPair {
  std::int32_t target, source;
  int mirror;  ///< the reflections, as of octants, that take the displacement to the first octant
};

/// Pairs of some targets, in runs of one displacement each.
struct DisplacedChunk {
  struct Run {
    std::int32_t displacement, end;  ///< of the run among the pairs
  };
  std::vector<std::int32_t> targets;
  std::vector<DisplacedPair> pairs;  ///< `target` counts in the chunk's targets
  std::vector<Run> runs;
};

struct DisplacedPairs {
  std::vector<BoxSteps> displacements;  ///< of the first octant, in order
  std::vector<int> levels;              ///< of each, or empty: operators serve all levels
  std::vector<DisplacedChunk> chunks;
};

/// Whether boxes of different levels with one displacement have one operator.
enum class DisplacedLevels { together, apart };

/// All of a tree's lists. A chunk has up to so many targets and, but for a single target, up to so
/// many pairs.
DisplacedPairs displaced_pairs(const PointTree& tree, std::size_t most_targets,
                               std::size_t most_pairs,
                               DisplacedLevels levels = DisplacedLevels::together);

/// Calls use(k, operator [K][K]) for the M2L at each of some displacements, side by side: of
/// Yukawa's kernel with the κ of each, in the unit of its boxes, or of Laplace's without any.
void for_displaced_operators(
    const ParityOrder& order, std::span<const BoxSteps> displacements,
    const std::function<void(std::size_t, const std::vector<double>&)>& use,
    std::span<const double> kappas = {});

}  // namespace fmbem::fmm
