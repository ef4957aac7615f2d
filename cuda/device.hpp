#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fmbem {

struct DeviceInfo {
  std::string name;
  int compute_capability = 0;     ///< 90 for 9.0
  std::int64_t memory_bytes = 0;  ///< device memory in all
};

/// Whether this build has the CUDA backend.
bool built_with_cuda();

/// Version of the CUDA runtime such as "13.0"; empty in a build without CUDA.
std::string cuda_runtime_version();

/// The usable CUDA devices; none in a build without CUDA or on a machine without a GPU.
std::vector<DeviceInfo> cuda_devices();

/// The most of the current device's memory that this process has had at a time so far, without what
/// CUDA takes for itself.
std::int64_t peak_device_memory();

/// Throws InputError, which says why, if there is no device to run on.
void require_cuda_device();

}  // namespace fmbem
