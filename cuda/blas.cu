#include <string>

#include "fmbem/cuda/blas.cuh"

namespace fmbem::cuda {
namespace {

/// What cuBLAS recommends for Hopper.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

/// A handle for which there is no memory may be called not initialised.
bool lacks_memory(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
}

void check_blas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string sentence = std::string(call) + " failed: " + cublasGetStatusString(status);
  if (lacks_memory(status)) throw DeviceMemoryError(sentence);
  throw Error(ExitCode::internal_error, sentence);
}
#define FMBEM_CUBLAS(call) check_blas((call), #call)

}  // namespace

Blas::Blas(cudaStream_t stream) : workspace_(workspace_bytes, stream) {
  cublasStatus_t status = cublasCreate(&handle_);
  if (lacks_memory(status)) {
    release_kept_memory();
    status = cublasCreate(&handle_);
  }
  check_blas(status, "cublasCreate");
  FMBEM_CUBLAS(cublasSetStream(handle_, stream));
  FMBEM_CUBLAS(cublasSetWorkspace(handle_, workspace_.data(), workspace_bytes));
}

Blas::~Blas() {
  if (handle_) cublasDestroy(handle_);
}

template <class T>
void Blas::multiply_eight(std::int64_t rows, int columns, int depth, const T* a_data,
                          std::int64_t lda, std::int64_t a, const T* b_data, std::int64_t ldb,
                          std::int64_t b, T* c_data, std::int64_t ldc, std::int64_t c, bool add,
                          bool rough) {
  if (rows == 0) return;
  constexpr bool single = sizeof(T) == 4;
  constexpr cudaDataType_t type = single ? CUDA_R_32F : CUDA_R_64F;
  const T one = 1, kept = add ? 1 : 0;
  // In cuBLAS's order, columns first, this is Cᵀ = B Aᵀ.
  FMBEM_CUBLAS(cublasGemmStridedBatchedEx(
      handle_, CUBLAS_OP_T, CUBLAS_OP_N, columns, static_cast<int>(rows), depth, &one, b_data, type,
      static_cast<int>(ldb), b, a_data, type, static_cast<int>(lda), a, &kept, c_data, type,
      static_cast<int>(ldc), c, 8,
      !single ? CUBLAS_COMPUTE_64F
      : rough ? CUBLAS_COMPUTE_32F_FAST_TF32
              : CUBLAS_COMPUTE_32F,
      CUBLAS_GEMM_DEFAULT));
}

template void Blas::multiply_eight(std::int64_t, int, int, const double*, std::int64_t,
                                   std::int64_t, const double*, std::int64_t, std::int64_t, double*,
                                   std::int64_t, std::int64_t, bool, bool);
template void Blas::multiply_eight(std::int64_t, int, int, const float*, std::int64_t, std::int64_t,
                                   const float*, std::int64_t, std::int64_t, float*, std::int64_t,
                                   std::int64_t, bool, bool);

}  // namespace fmbem::cuda
