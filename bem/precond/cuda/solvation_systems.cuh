#pragma once

#include <cstdint>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/solvation_kernel.hpp"

namespace fmbem::cuda::bem {

/// What the systems for potentials and fluxes are made of, in device memory.
struct SolvationNodes {
  const NodeSides* sides;        ///< [nodes]
  const std::int32_t* panel_at;  ///< [n], at each place
  const Vec3d* vertices;         ///< [n panels][3]
  MediaView media;
};

/// Solves the small systems of all leaves: rows [cut][2][panels of the leaf][2], with scales
/// [n][2]. They are solved by parts in shared memory, those that have too many nodes for it, or
/// want pivots that are not on the diagonal, by elimination in device memory. Throws InputError if
/// one is singular.
DeviceRows solve_solvation_systems(const SolvationNodes& of, const DeviceClusterTree& tree,
                                   const DeviceCuts& cuts, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
