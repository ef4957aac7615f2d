#pragma once

#include <cstdint>
#include <span>

#include "fmbem/bem/precond/cuda/cluster_tree.cuh"

namespace fmbem::cuda::bem {

/// Several trees, one behind the other, over panels in the order of the trees, whose keys ascend in
/// each: [2n − trees] nodes. `tree_begin`: [trees + 1], panels. Of the panels it takes vertices and
/// keys.
DeviceClusterTree make_cluster_trees(const DevicePanels& panels,
                                     std::span<const std::int32_t> tree_begin, int max_leaf,
                                     cudaStream_t stream);

/// Each tree has a leaf more than nodes above its leaves.
inline std::int64_t panels_of(const DeviceClusterTree& trees) {
  return static_cast<std::int64_t>(trees.nodes.size() + trees.leaves.size() - trees.above.size()) /
         2;
}

}  // namespace fmbem::cuda::bem
