#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"

namespace fmbem::cuda {

/// Of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  FMBEM_CUDA(cudaGetDevice(&device));
  FMBEM_CUDA(cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Shared memory that a block of the current device may have, less some for static arrays.
inline std::size_t shared_memory_of_a_block() {
  return static_cast<std::size_t>(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) -
         14 * 1024;
}

/// Launches a kernel and checks the launch. Asks for more shared memory than every block may have
/// where that is needed. An empty grid is no error.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            cudaStream_t stream, A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared_bytes > 32 * 1024)  // 48 KiB less static arrays
    FMBEM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
  kernel<<<grid, block, shared_bytes, stream>>>(static_cast<P>(std::forward<A>(arguments))...);
  FMBEM_CUDA(cudaGetLastError());
}

/// Shared memory of the block for a T, which is not initialised.
template <class T>
__device__ T& static_shared() {
  __shared__ __align__(16) unsigned char s_bytes[sizeof(T)];
  return *reinterpret_cast<T*>(s_bytes);
}

/// The shared memory that a launch asked for.
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(16) unsigned char s_bytes[];
  return reinterpret_cast<T*>(s_bytes);
}

}  // namespace fmbem::cuda
