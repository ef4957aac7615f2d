#pragma once

#include <cstring>
#include <string>

#include <cuda_runtime_api.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

/// The GPU's memory does not suffice.
class DeviceMemoryError : public ResourceError {
 public:
  /// `lack` is what is missing, `advice` what to use instead.
  explicit DeviceMemoryError(
      const std::string& lack,
      const std::string& advice = "a looser tolerance, fewer points or the backend cpu")
      : ResourceError("the GPU's memory does not suffice (" + lack + "): use " + advice),
        lack_(lack) {}
  const std::string& lack() const { return lack_; }

 private:
  std::string lack_;
};

/// Throws DeviceMemoryError when device memory is exhausted and Error for any other failed call,
/// with the function's name: `call` up to its arguments.
inline void check_cuda(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the next launch does not find it again
  const std::string sentence =
      std::string(call, std::strcspn(call, "(")) + " failed: " + cudaGetErrorString(error);
  if (error == cudaErrorMemoryAllocation) throw DeviceMemoryError(sentence);
  throw Error(ExitCode::internal_error, sentence);
}

}  // namespace fmbem

#define FMBEM_CUDA(call) ::fmbem::check_cuda((call), #call)
