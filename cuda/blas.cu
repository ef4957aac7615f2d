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

template <class T>
void Blas::multiply_eight(std::int64_t rows, int columns, int depth,
                          const EightMatrices<const T>& a, const EightMatrices<const T>& b,
                          const EightMatrices<T>& c, bool add, bool rough) {
  if (rows == 0) return;
  constexpr bool single = sizeof(T) == 4;
  constexpr cudaDataType_t type = single ? CUDA_R_32F : CUDA_R_64F;
  const T one = 1, kept = add ? 1 : 0;
  // cuBLAS has columns first, where this is Cᵀ = B Aᵀ.
  FMBEM_CUBLAS(cublasGemmStridedBatchedEx(
      handle_, CUBLAS_OP_T, CUBLAS_OP_N, columns, static_cast<int>(rows), depth, &one, b.values,
      type, static_cast<int>(b.stride), b.block, a.values, type, static_cast<int>(a.stride),
      a.block, &kept, c.values, type, static_cast<int>(c.stride), c.block, 8,
      !single ? CUBLAS_COMPUTE_64F
      : rough ? CUBLAS_COMPUTE_32F_FAST_TF32
              : CUBLAS_COMPUTE_32F,
      CUBLAS_GEMM_DEFAULT));
}

template void Blas::multiply_eight(std::int64_t, int, int, const EightMatrices<const double>&,
                                   const EightMatrices<const double>&, const EightMatrices<double>&,
                                   bool, bool);
template void Blas::multiply_eight(std::int64_t, int, int, const EightMatrices<const float>&,
                                   const EightMatrices<const float>&, const EightMatrices<float>&,
                                   bool, bool);

}  // namespace fmbem::cuda
