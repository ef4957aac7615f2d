#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda {

/// Numbers of points a leaf that are tried at a time, and roots.
inline constexpr int most_trials = 16, most_roots = 8;

/// What an evaluation has to do in a tree whose sources are its targets.
struct TreeCounts {
  std::int64_t pairs;    ///< of sources and targets of the near field
  std::int64_t sources;  ///< of all rows of the near lists
  std::int64_t parents;  ///< rows of M2L: boxes but the root that are split
  std::int64_t leaves;
};

/// Points of every stride-th.
constexpr std::int64_t sample_size(std::int64_t points, std::int64_t stride) {
  return (points + stride - 1) / stride;
}

/// What trees of every stride-th of the sorted points (times `scale`) in these roots, with these
/// numbers of points a leaf (ascending, and less than the sample's points), ask of an evaluation
/// whose sources are its targets: [roots][max_leaf]. All of that comes from one tree: the roots lie
/// in it side by side, without touching, and whether one of its boxes is split, grading included,
/// is a matter of one number of its own, the least number of points a leaf with which it is not.
/// The host waits four times.
std::vector<TreeCounts> count_trees(const Vec3d* points, const std::int32_t* order, std::int64_t n,
                                    std::int64_t stride, double scale, std::span<const Cube> roots,
                                    std::span<const int> max_leaf, cudaStream_t stream);

}  // namespace fmbem::cuda
