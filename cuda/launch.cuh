#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "fmbem/cuda/check.cuh"
#include "fmbem/fmm/base/error.hpp"

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

/// How many rows, 4, 2 or 1, a block takes of which each needs so many bytes of shared memory.
inline int rows_of_a_block(std::size_t bytes_of_row) {
  const std::size_t most = shared_memory_of_a_block();
  return 4 * bytes_of_row <= most ? 4 : 2 * bytes_of_row <= most ? 2 : 1;
}

/// Allows more shared memory than every block may have where that is needed: all that there is, as
/// another thread may be about to launch the kernel with more. Throws ResourceError where that does
/// not suffice, as for orders from 31 on where blocks have 99 KiB.
template <class... P>
void allow_shared_memory(void (*kernel)(P...), std::size_t shared_bytes) {
  if (shared_bytes <= 32 * 1024) return;  // 48 KiB less static arrays
  const std::size_t most = shared_memory_of_a_block();
  if (shared_bytes > most)
    throw ResourceError(
        "expansions of so high an order need " + std::to_string(shared_bytes >> 10) +
        " KiB of a multiprocessor's shared memory, but blocks of this GPU may have " +
        std::to_string(most >> 10) + ": take the CPU, a looser tolerance or a lower order");
  FMBEM_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(most)));
}

/// Launches a kernel and checks the launch. An empty grid is no error.
template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared_bytes,
            cudaStream_t stream, A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  allow_shared_memory(kernel, shared_bytes);
  kernel<<<grid, block, shared_bytes, stream>>>(static_cast<P>(std::forward<A>(arguments))...);
  FMBEM_CUDA(cudaGetLastError());
}

/// Whether a kernel is compiled for devices on which its blocks can begin early (from Hopper on).
template <class... P>
bool can_begin_early(void (*kernel)(P...)) {
  cudaFuncAttributes compiled;
  FMBEM_CUDA(cudaFuncGetAttributes(&compiled, kernel));
  return compiled.ptxVersion >= 90;
}

/// The same of a kernel that calls wait_for_launch_before(). If it `follows` a launch of such a
/// kernel in the stream, its blocks begin while that one's still run, on devices that can do so.
template <class... P, class... A>
void launch_in_turn(bool follows, void (*kernel)(P...), dim3 grid, dim3 block,
                    std::size_t shared_bytes, cudaStream_t stream, A&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  allow_shared_memory(kernel, shared_bytes);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = follows && can_begin_early(kernel) ? 1 : 0;
  FMBEM_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<P>(std::forward<A>(arguments))...));
}

/// Where all threads of a kernel of launch_in_turn() wait until the launch before is done, whose
/// results they may read from then on, and let the launch after it begin.
__device__ inline void wait_for_launch_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
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
