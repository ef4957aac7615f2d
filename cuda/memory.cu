#include <set>

#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/memory.cuh"

namespace fmbem {
namespace {

cudaMemPool_t pool_of_current_device() {
  int device = 0;
  cudaMemPool_t pool;
  FMBEM_CUDA(cudaGetDevice(&device));
  FMBEM_CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  return pool;
}

std::int64_t pool_bytes(cudaMemPoolAttr attribute) {
  std::uint64_t bytes = 0;
  FMBEM_CUDA(cudaMemPoolGetAttribute(pool_of_current_device(), attribute, &bytes));
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::int64_t peak_device_memory() {
  if (cuda_devices().empty()) return 0;
  std::size_t free = 0, total = 0;
  FMBEM_CUDA(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(total - free) - pool_bytes(cudaMemPoolAttrReservedMemCurrent) +
         pool_bytes(cudaMemPoolAttrUsedMemHigh);
}

void reset_peak_device_memory() {
  if (cuda_devices().empty()) return;
  std::uint64_t zero = 0;
  FMBEM_CUDA(cudaMemPoolSetAttribute(pool_of_current_device(), cudaMemPoolAttrUsedMemHigh, &zero));
}

namespace cuda {

void keep_freed_memory() {
  static std::mutex mutex;
  static std::set<int> done;
  int device = 0;
  FMBEM_CUDA(cudaGetDevice(&device));
  const std::lock_guard lock(mutex);
  if (!done.insert(device).second) return;
  std::uint64_t everything = UINT64_MAX;
  FMBEM_CUDA(cudaMemPoolSetAttribute(pool_of_current_device(), cudaMemPoolAttrReleaseThreshold,
                                     &everything));
}

std::mutex& whole_device() {
  static std::mutex mutex;
  return mutex;
}

void release_kept_memory() {
  const std::lock_guard lock(whole_device());
  FMBEM_CUDA(cudaDeviceSynchronize());
  FMBEM_CUDA(cudaMemPoolTrimTo(pool_of_current_device(), 0));
}

std::int64_t total_device_memory() {
  std::size_t free = 0, total = 0;
  FMBEM_CUDA(cudaMemGetInfo(&free, &total));
  return static_cast<std::int64_t>(total);
}

std::int64_t available_device_memory() {
  std::size_t free = 0, total = 0;
  FMBEM_CUDA(cudaMemGetInfo(&free, &total));
  // Memory that the process has freed and kept is free, too.
  return static_cast<std::int64_t>(free) + pool_bytes(cudaMemPoolAttrReservedMemCurrent) -
         pool_bytes(cudaMemPoolAttrUsedMemCurrent);
}

void throw_out_of_memory(std::size_t needed) {
  cudaGetLastError();  // the failed call's, which is dealt with
  throw DeviceMemoryError(std::to_string(needed >> 20) + " MiB more are needed and " +
                          std::to_string(available_device_memory() >> 20) + " MiB are free");
}

}  // namespace cuda
}  // namespace fmbem
