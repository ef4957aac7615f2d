#pragma once

#include <cstdint>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/cluster_kernel.hpp"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// fmbem::ClusterTree on the device, with the same nodes in the same order.
struct DeviceClusterTree {
  DeviceBuffer<Cluster> nodes;  ///< [2n − 1], in preorder
  DeviceBuffer<std::int32_t> parent;
  DeviceBuffer<std::int32_t> leaves, above;  ///< topmost nodes of at most max_leaf panels; the rest
};

DeviceClusterTree make_cluster_tree(const DevicePanels& panels, int max_leaf, cudaStream_t stream);

/// The nodes whose charges are the unknowns for each leaf, its own panels last.
struct DeviceCuts {
  DeviceBuffer<std::int64_t> begin;     ///< [leaves + 1]
  DeviceBuffer<std::int32_t> nodes;     ///< all cuts, one behind the other
  DeviceBuffer<std::int32_t> has_long;  ///< [leaves], whether any is long
};

DeviceCuts make_cuts(const DeviceClusterTree& tree, const ClusterInverseOptions& options,
                     cudaStream_t stream);

}  // namespace fmbem::cuda::bem
