#pragma once

#include "fmbem/bem/precond/cuda/cluster_tree.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {

/// The second thread that comes to a node finds both halves done and goes on.
template <class Body>
__global__ void climb_nodes(Body body, std::int64_t n, const std::int32_t* panel_node,
                            const std::int32_t* parent, unsigned* arrived) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  body.of_panel(panel_node[i]);
  for (std::int32_t k = parent[panel_node[i]]; k >= 0; k = parent[k]) {
    __threadfence();
    if (atomicAdd(arrived + k, 1u) == 0) return;
    __threadfence();
    body.of_halves(k);
  }
}

/// Calls body.of_panel(k) for all nodes that are panels and body.of_halves(k) for the others, each
/// after its halves.
template <class Body>
void from_panels_up(const DeviceClusterTree& tree, const Body& body, cudaStream_t stream) {
  DeviceBuffer<unsigned> arrived(tree.nodes.size(), stream);
  arrived.fill_bytes(0);
  launch(climb_nodes<Body>, blocks_for(tree.size()), threads_per_block, 0, stream, body,
         tree.size(), tree.panel_node.data(), tree.parent.data(), arrived.data());
}

}  // namespace fmbem::cuda::bem
