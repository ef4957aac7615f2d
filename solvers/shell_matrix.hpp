#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/solvers/petsc.hpp"

namespace fmbem {

/// A boundary operator A as a PETSc matrix, for KSP or any other use: mult, product with a dense
/// matrix (all columns at once), get diagonal and create vectors. With n_vectors > 1 it is A for
/// each of as many vectors, one behind the other: a block diagonal matrix whose product is one
/// product of A. Vectors that it creates are on the GPU if A is there and PETSc has CUDA, unless
/// host_vectors. One rank for now, which it checks.
class ShellMatrix {
 public:
  explicit ShellMatrix(std::shared_ptr<const BoundaryOperator> op, int n_vectors = 1,
                       bool host_vectors = false);
  ~ShellMatrix();
  ShellMatrix(const ShellMatrix&) = delete;
  ShellMatrix& operator=(const ShellMatrix&) = delete;

  Mat mat() const { return mat_; }
  const BoundaryOperator& boundary_operator() const { return *op_; }

  /// Seconds of each product so far.
  const std::vector<double>& product_seconds() const { return product_seconds_; }

  /// Throws the exception that a product threw under PETSc, if one did.
  void rethrow();

 private:
  static PetscErrorCode mult(Mat mat, Vec x, Vec y);
  static PetscErrorCode multiply_dense(Mat mat, Mat x, Mat y, void* unused);
  static PetscErrorCode get_diagonal(Mat mat, Vec diagonal);
  void multiply(const double* x, double* y, int n_vectors);

  std::shared_ptr<const BoundaryOperator> op_;
  int n_vectors_;
  Mat mat_ = nullptr;
  std::vector<double> product_seconds_;
  std::exception_ptr exception_;
};

/// Preconditioning matrix of the diagonal blocks of the operator over leaves of panels, with the
/// block sizes set for PCVPBJACOBI. leaf_begin is [n_leaves + 1].
Mat make_leaf_blocks(const BoundaryOperator& op, std::span<const std::int64_t> leaf_begin);

}  // namespace fmbem
