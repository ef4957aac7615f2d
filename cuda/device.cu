#include <map>
#include <mutex>

#include <cuda_runtime_api.h>

#include "fmbem/cuda/check.cuh"
#include "fmbem/cuda/device.hpp"

namespace fmbem {

bool built_with_cuda() { return true; }

std::string cuda_runtime_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

std::vector<DeviceInfo> cuda_devices() {
  int count = 0;
  // Without a driver or a GPU this call fails, which is an answer here and not an error.
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<DeviceInfo> devices(count);
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    FMBEM_CUDA(cudaGetDeviceProperties(&properties, i));
    devices[i].name = properties.name;
    devices[i].compute_capability = 10 * properties.major + properties.minor;
    devices[i].memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  }
  return devices;
}

std::string current_device_name() {
  require_cuda_device();
  int device = 0;
  FMBEM_CUDA(cudaGetDevice(&device));
  // All properties take a millisecond, and each plan asks.
  static std::mutex mutex;
  static std::map<int, std::string> names;
  const std::lock_guard lock(mutex);
  std::string& name = names[device];
  if (name.empty()) {
    cudaDeviceProp properties;
    FMBEM_CUDA(cudaGetDeviceProperties(&properties, device));
    name = properties.name;
  }
  return name;
}

void require_cuda_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return;
  cudaGetLastError();
  FMBEM_REQUIRE(false, "no usable CUDA device ("
                           << (error == cudaSuccess ? "none is visible" : cudaGetErrorString(error))
                           << "): use the backend cpu, or check the driver");
}

}  // namespace fmbem
