#pragma once

#include <span>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/choice/corners.hpp"

namespace fmbem::cuda {

/// The same sums as fmm::corner_weights(). The host waits.
fmm::CornerWeights corner_weights(const Vec3d* points, std::int64_t n, double scale,
                                  std::span<const Cube> roots, int order, cudaStream_t stream);

}  // namespace fmbem::cuda
