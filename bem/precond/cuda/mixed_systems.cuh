#pragma once

#include <span>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/mixed_systems.hpp"

namespace fmbem::cuda::bem {

/// Rows of the inverse of mixed rows, in the order of the leaves: the host says what the small
/// systems are made of, some leaves at a time, and the GPU fills and solves those before meanwhile.
/// Throws InputError if one is singular.
DeviceRows solve_mixed_systems(std::span<const Triangle> panels,
                               const MixedSystems<double>& systems, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
