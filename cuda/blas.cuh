#pragma once

#include <cublas_v2.h>

#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda {

/// Eight row-major matrices, `block` numbers apart, with rows `stride` apart.
template <class T>
struct EightMatrices {
  T* values;
  std::int64_t stride, block;
};

/// cuBLAS with a workspace of its own, so that its results do not depend on what else runs.
class Blas {
 public:
  explicit Blas(cudaStream_t stream);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// For e < 8: C_e [rows][columns] = A_e [rows][depth] B_eᵀ, B_e [columns][depth]; C_e += with
  /// `add`. `rough`: tensor cores may round single precision's factors to 11 bits.
  template <class T>
  void multiply_eight(std::int64_t rows, int columns, int depth, const EightMatrices<const T>& a,
                      const EightMatrices<const T>& b, const EightMatrices<T>& c, bool add,
                      bool rough);

 private:
  cublasHandle_t handle_ = nullptr;
  DeviceBuffer<unsigned char> workspace_;
};

}  // namespace fmbem::cuda
