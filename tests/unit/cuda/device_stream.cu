#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"
#include "tests/unit/cuda/device_stream.hpp"

namespace fmbem::test {
namespace {

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) continue;
}

}  // namespace

DeviceStream::DeviceStream() {
  FMBEM_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}
DeviceStream::~DeviceStream() { cudaStreamDestroy(stream_); }

void use_device(int device) { FMBEM_CUDA(cudaSetDevice(device)); }

void on_stream_after_a_while(CUstream_st* stream, const double* from, std::size_t n, double* to) {
  double* staged = nullptr;
  FMBEM_CUDA(cudaMallocAsync(reinterpret_cast<void**>(&staged), n * sizeof(double), stream));
  FMBEM_CUDA(cudaMemcpyAsync(staged, from, n * sizeof(double), cudaMemcpyHostToDevice, stream));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  spin<<<1, 1, 0, stream>>>(20'000'000);
  FMBEM_CUDA(cudaGetLastError());
  FMBEM_CUDA(cudaMemcpyAsync(to, staged, n * sizeof(double), cudaMemcpyDeviceToDevice, stream));
  FMBEM_CUDA(cudaFreeAsync(staged, stream));
}

void from_stream(CUstream_st* stream, const double* from, std::size_t n, double* to) {
  FMBEM_CUDA(cudaMemcpyAsync(to, from, n * sizeof(double), cudaMemcpyDeviceToHost, stream));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace fmbem::test
