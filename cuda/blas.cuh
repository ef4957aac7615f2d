#pragma once

#include <cublas_v2.h>

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda {

/// cuBLAS with a workspace of its own, so that its results do not depend on what else runs.
class Blas {
 public:
  explicit Blas(cudaStream_t stream);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// For e < 8: C_e [rows][columns] = A_e [rows][depth] B_eᵀ, B_e [columns][depth], all row-major
  /// with rows lda, ldb, ldc apart and the eight a, b, c apart; C_e += with `add`. `rough`: tensor
  /// cores may round single precision's factors to 11 bits.
  template <class T>
  void multiply_eight(std::int64_t rows, int columns, int depth, const T* a_data, std::int64_t lda,
                      std::int64_t a, const T* b_data, std::int64_t ldb, std::int64_t b, T* c_data,
                      std::int64_t ldc, std::int64_t c, bool add, bool rough);

 private:
  cublasHandle_t handle_ = nullptr;
  DeviceBuffer<unsigned char> workspace_;
};

}  // namespace fmbem::cuda
