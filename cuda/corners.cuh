#pragma once

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/choice/corners.hpp"

namespace fmbem::cuda {

/// The same sums as fmm::corner_weights(). The host waits.
fmm::CornerWeights corner_weights(const Vec3d* points, std::int64_t n, double scale,
                                  const Cube& hull, int order, cudaStream_t stream);

}  // namespace fmbem::cuda
