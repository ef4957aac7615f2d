#include <mutex>
#include <set>

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda {

void keep_freed_memory() {
  static std::mutex mutex;
  static std::set<int> done;
  int device = 0;
  FMBEM_CUDA(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  if (!done.insert(device).second) return;
  cudaMemPool_t pool;
  FMBEM_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t everything = UINT64_MAX;
  FMBEM_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything));
}

std::int64_t available_device_memory() {
  std::size_t free = 0, total = 0;
  FMBEM_CUDA(cudaMemGetInfo(&free, &total));
  // What the process has freed and kept can be had, too.
  int device = 0;
  cudaMemPool_t pool;
  std::uint64_t reserved = 0, used = 0;
  FMBEM_CUDA(cudaGetDevice(&device));
  FMBEM_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  FMBEM_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  FMBEM_CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return static_cast<std::int64_t>(free + reserved - used);
}

void throw_out_of_memory(std::size_t needed) {
  cudaGetLastError();  // the failed call's, which is dealt with
  throw ResourceError("the GPU's memory does not suffice: " + std::to_string(needed >> 20) +
                      " MiB more are needed and " +
                      std::to_string(available_device_memory() >> 20) +
                      " MiB are free; use a looser tolerance, fewer points or the backend cpu");
}

}  // namespace fmbem::cuda
