#pragma once

#include <cstdint>

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda::bem {

/// to += factor from, of n numbers.
static __global__ void add_scaled(const double* from, double factor, std::int64_t n, double* to) {
  const std::int64_t j = thread_index();
  if (j < n) to[j] += factor * from[j];
}

}  // namespace fmbem::cuda::bem
