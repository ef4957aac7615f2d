#pragma once

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/cuda/mixed_nodes.cuh"

namespace fmbem::cuda::bem {

/// Rows of the inverse of mixed rows, some leaves' small systems at a time. Throws InputError if
/// one is singular.
DeviceRows solve_mixed_systems(const DeviceMixedNodes& of, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
