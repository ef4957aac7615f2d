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

/// Of the device that this thread uses. Throws InputError without one.
std::string current_device_name();

/// Throws InputError, which says why, if there is no device to run on.
void require_cuda_device();

/// Does ahead what else happens when the current device is first used, half a second of it: starts
/// it, pins memory, lets cuBLAS read its kernels. For programs whose kernels are fmbem's and those
/// of CUDA's libraries: threads get stacks of 384 bytes instead of CUDA's 1024, which for all
/// threads that can run at once saves 0.17 GB on an H200. (A kernel that needs more gets it at its
/// launch, unless it calls itself.) Errors of the device are not reported here: whoever uses it
/// next will meet them.
void start_cuda_device();

/// The most bytes in use at once on the current device since the last reset, those of other
/// libraries as they are now; 0 without a device.
std::int64_t peak_device_memory();
void reset_peak_device_memory();

}  // namespace fmbem
