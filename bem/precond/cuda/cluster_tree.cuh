#pragma once

#include <cstdint>
#include <span>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/cluster_kernel.hpp"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// fmbem::ClusterTree on the device, with the same nodes in the same order.
struct DeviceClusterTree {
  std::int32_t panels = 0;      ///< n
  DeviceBuffer<Cluster> nodes;  ///< [2n − trees], in preorder
  DeviceBuffer<std::int32_t> parent;
  DeviceBuffer<std::int32_t> leaves, above;  ///< topmost nodes of at most max_leaf panels; the rest
};

DeviceClusterTree make_cluster_tree(const DevicePanels& panels, int max_leaf, cudaStream_t stream);
/// Several trees, one behind the other, over panels in the order of the trees, whose keys ascend in
/// each. `tree_begin`: [trees + 1], panels. Of the panels it takes vertices and keys.
DeviceClusterTree make_cluster_trees(const DevicePanels& panels,
                                     std::span<const std::int32_t> tree_begin, int max_leaf,
                                     cudaStream_t stream);

/// The nodes whose charges are the unknowns for each leaf, its own panels last.
struct DeviceCuts {
  DeviceBuffer<std::int64_t> begin;     ///< [leaves + 1]
  DeviceBuffer<std::int32_t> nodes;     ///< all cuts, one behind the other
  DeviceBuffer<std::int32_t> has_long;  ///< [leaves], whether any is long
};

DeviceCuts make_cuts(const DeviceClusterTree& tree, const ClusterInverseOptions& options,
                     cudaStream_t stream);

}  // namespace fmbem::cuda::bem
