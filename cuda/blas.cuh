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
  /// `add`.
  void multiply_eight(std::int64_t rows, int columns, int depth,
                      const EightMatrices<const double>& a, const EightMatrices<const double>& b,
                      const EightMatrices<double>& c, bool add);

 private:
  cublasHandle_t handle_ = nullptr;
  DeviceBuffer<unsigned char> workspace_;
};

}  // namespace fmbem::cuda
