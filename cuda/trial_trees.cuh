#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/cuda/tree.cuh"
#include "fmbem/fmm/tree/merge_leaves.hpp"

namespace fmbem::cuda {

/// How many leaf sizes and roots are tried at a time.
inline constexpr int most_trials = 16, most_roots = 8;

/// What an evaluation has to do in a tree whose sources are its targets.
struct TreeCounts {
  std::int64_t pairs;    ///< of sources and targets of the near field
  std::int64_t sources;  ///< of all rows of the near lists
  std::int64_t parents;  ///< rows of M2L: boxes but the root that are split
  std::int64_t leaves;

  /// Boxes that a split makes, or 8 if the root is not split.
  double branching() const {
    return leaves > 1 ? static_cast<double>(parents + leaves) / static_cast<double>(parents + 1)
                      : 8;
  }
};

/// Every stride-th point.
constexpr std::int64_t sample_size(std::int64_t points, std::int64_t stride) {
  return (points + stride - 1) / stride;
}

/// The work of trees of every stride-th of the sorted points (times `scale`), in these roots and
/// with these leaf sizes (ascending, and less than the sample's points), merged or not, for an
/// evaluation whose sources are its targets: [roots][max_leaf]. All of it comes from one tree. The
/// roots lie in it side by side, without touching; and one number for each of its boxes, the
/// smallest leaf size with which it is not split, says in which trees it is, grading included. The
/// host waits four times.
std::vector<TreeCounts> count_trees(const Vec3d* points, const std::int32_t* order, std::int64_t n,
                                    std::int64_t stride, double scale, std::span<const Cube> roots,
                                    std::span<const int> max_leaf, fmm::Leaves leaves,
                                    cudaStream_t stream);

}  // namespace fmbem::cuda
