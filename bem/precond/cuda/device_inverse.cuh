#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "fmbem/bem/precond/cuda/device_inverse.hpp"

namespace fmbem::cuda::bem {

/// What DeviceInverse applies.
struct DeviceInverse::Impl {
  virtual ~Impl() = default;
  /// In device memory, [vectors][size()], in the order of the stream.
  virtual void apply(const double* x, double* y, int vectors, cudaStream_t stream) const = 0;
  virtual std::int64_t size() const = 0;
  virtual std::int64_t bytes() const = 0;
};

}  // namespace fmbem::cuda::bem
