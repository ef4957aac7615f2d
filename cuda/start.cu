#include <exception>

#include "fmbem/cuda/blas.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/staging.cuh"

namespace fmbem {
namespace {

/// A product of M2L's shape, at order 11.
void multiply_once(cuda::Blas& blas, cudaStream_t stream) {
  constexpr int rows = 1024, columns = 144, depth = 26 * columns;
  const cuda::DeviceBuffer<double> a(rows * depth, stream), b(columns * depth, stream),
      c(8 * rows * columns, stream);
  blas.multiply_eight(rows, columns, depth, {a.data(), depth, 0}, {b.data(), depth, 0},
                      {c.data(), columns, rows * columns}, false);
}

}  // namespace

void start_cuda_device() {
  try {
    if (cuda_devices().empty()) return;
    constexpr std::size_t stack_bytes = 384;  // fmbem's largest is 352
    FMBEM_CUDA(cudaDeviceSetLimit(cudaLimitStackSize, stack_bytes));
    cuda::Staging();  // pins memory, once and for all
    const cuda::Stream stream;
    cuda::Blas blas(stream);
    multiply_once(blas, stream);
    stream.wait();
  } catch (const std::exception&) {
    // Whoever uses the device next meets the error again, and reports it.
  }
}

}  // namespace fmbem
