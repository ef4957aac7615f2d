#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/tree.cuh"
#include "fmbem/fmm/tree/merge_leaves.hpp"

namespace fmbem::cuda {

/// Points of a box that count for its split.
__device__ inline int points_of(const TreeView& tree, std::int32_t box) {
  const int held = tree.held ? tree.held[box] : 0;
  return max(size_of(tree.targets[box]), size_of(tree.sources[box]) - held);
}

/// As fmm::crowd_about(), of a split.
__device__ inline int crowd_about(const TreeView& tree, std::int32_t split) {
  std::int64_t points = 0, colleagues = 0;
  for (int place = 0; place < 27; ++place) {
    const std::int32_t c = tree.colleague[27 * static_cast<std::int64_t>(split) + place];
    if (c < 0) continue;
    points += points_of(tree, c);
    ++colleagues;
  }
  const auto mean = static_cast<int>((points + colleagues - 1) / colleagues);
  return min(mean, points_of(tree, tree.box_of[split]));
}

/// As fmm::merge_leaves(), of points. The host waits at most three times.
void merge_leaves(DeviceTree& tree, int max_leaf, cudaStream_t stream);

}  // namespace fmbem::cuda
