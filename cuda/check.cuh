#pragma once

#include <cuda_runtime_api.h>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

/// Throws ResourceError when device memory is exhausted and Error for any other failed call.
inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the next launch does not find it again
  std::ostringstream sentence;
  sentence << call << " failed: " << cudaGetErrorString(error) << " (" << file << ":" << line
           << ")";
  if (error == cudaErrorMemoryAllocation) throw ResourceError(sentence.str());
  throw Error(ExitCode::internal_error, sentence.str());
}

}  // namespace fmbem

#define FMBEM_CUDA(call) ::fmbem::check_cuda((call), #call, __FILE__, __LINE__)
