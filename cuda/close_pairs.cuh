#pragma once

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/choice/close_pairs.hpp"

namespace fmbem::cuda {

/// The same counts as fmm::count_pairs(), of points times `scale` in that order. The host waits.
fmm::PairCounts count_pairs(const Vec3d* points, const std::int32_t* order, std::int64_t n,
                            double scale, cudaStream_t stream);

}  // namespace fmbem::cuda
