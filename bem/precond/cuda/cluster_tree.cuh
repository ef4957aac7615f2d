#pragma once

#include <climits>
#include <cstdint>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/cluster_kernel.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// fmbem::ClusterTree on the device, with the same nodes in the same order.
struct DeviceClusterTree {
  DeviceBuffer<Cluster> nodes;  ///< [2n − trees], in preorder
  DeviceBuffer<std::int32_t> parent;
  DeviceBuffer<std::int32_t> panel_node;     ///< [n], of the panel at each place
  DeviceBuffer<std::int32_t> leaves, above;  ///< topmost nodes of at most max_leaf panels; the rest
  std::int64_t size() const { return static_cast<std::int64_t>(panel_node.size()); }
};

/// Where panels stand in several trees: TreePlaces in device memory.
struct PlacesView {
  const std::uint64_t* key;      ///< [n]
  const std::int32_t* panel_at;  ///< [n], or null: each at the place of its number
  const std::int32_t* part;      ///< [n], or null: there are none
  const std::uint64_t* part_key;
  const std::int32_t* tree_begin;  ///< [trees + 1], or null: there is one tree
  std::int32_t trees;

  __host__ __device__ std::int32_t panel(std::int32_t place) const {
    return panel_at ? panel_at[place] : place;
  }
};

DeviceClusterTree make_cluster_tree(const DevicePanels& panels, const PlacesView& places,
                                    int max_leaf, cudaStream_t stream);
/// One tree of panels in their own order.
inline DeviceClusterTree make_cluster_tree(const DevicePanels& panels, int max_leaf,
                                           cudaStream_t stream) {
  return make_cluster_tree(panels, {panels.keys, nullptr, nullptr, nullptr, nullptr, 1}, max_leaf,
                           stream);
}

/// The nodes whose charges are the unknowns for each leaf, its own panels last.
struct DeviceCuts {
  DeviceBuffer<std::int64_t> begin;     ///< [leaves + 1]
  DeviceBuffer<std::int32_t> nodes;     ///< all cuts, one behind the other
  DeviceBuffer<std::int32_t> has_long;  ///< [leaves], whether any is long
};

/// Which leaves are halved and which nodes opened, as ClusterRows has it.
struct CutRules {
  int smallest_leaf = INT_MAX;
  const std::int32_t* part_at = nullptr;     ///< [n], or null: no node has to be opened
  const MixedPlaces::Part* parts = nullptr;  ///< by which nodes are divided
};

/// Leaves that are halved are no longer leaves of the tree then.
DeviceCuts make_cuts(DeviceClusterTree& tree, const ClusterInverseOptions& options,
                     cudaStream_t stream, const CutRules& rules = {});

}  // namespace fmbem::cuda::bem
