#include <cstring>
#include <string>

#include "fmbem/cuda/blas.cuh"

namespace fmbem::cuda {
namespace {

/// What cuBLAS recommends for Hopper.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

/// Where there is no memory for a handle, cuBLAS may say that it was not initialised.
bool lacks_memory(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
}

/// Like check_cuda().
void check_blas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string sentence =
      std::string(call, std::strcspn(call, "(")) + " failed: " + cublasGetStatusString(status);
  if (lacks_memory(status)) throw DeviceMemoryError(sentence);
  throw Error(ExitCode::internal_error, sentence);
}
#define FMBEM_CUBLAS(call) check_blas((call), #call)

}  // namespace

Blas::Blas(cudaStream_t stream) : workspace_(workspace_bytes, stream) {
  const auto create = [this] {
    const std::lock_guard lock(whole_device());
    return cublasCreate(&handle_);
  };
  cublasStatus_t status = create();
  if (lacks_memory(status)) {
    release_kept_memory();
    status = create();
  }
  check_blas(status, "cublasCreate");
  FMBEM_CUBLAS(cublasSetStream(handle_, stream));
  FMBEM_CUBLAS(cublasSetWorkspace(handle_, workspace_.data(), workspace_bytes));
}

Blas::~Blas() {
  if (!handle_) return;
  const std::lock_guard lock(whole_device());
  cublasDestroy(handle_);
}

void Blas::multiply_eight(std::int64_t rows, int columns, int depth,
                          const EightMatrices<const double>& a,
                          const EightMatrices<const double>& b, const EightMatrices<double>& c,
                          bool add) {
  if (rows == 0) return;
  const double one = 1, kept = add ? 1 : 0;
  // cuBLAS has columns first, where this is Cᵀ = B Aᵀ.
  FMBEM_CUBLAS(cublasDgemmStridedBatched(
      handle_, CUBLAS_OP_T, CUBLAS_OP_N, columns, static_cast<int>(rows), depth, &one, b.values,
      static_cast<int>(b.stride), b.block, a.values, static_cast<int>(a.stride), a.block, &kept,
      c.values, static_cast<int>(c.stride), c.block, 8));
}

}  // namespace fmbem::cuda
