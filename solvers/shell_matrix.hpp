#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/solvers/petsc.hpp"

namespace fmbem {

/// A boundary operator A as a PETSc matrix, for KSP or any other use: it can multiply vectors,
/// transposed too, and dense matrices (all columns at once), give its diagonal and create vectors.
/// These are on the GPU if A is there and PETSc has CUDA, unless host_vectors. One rank for now,
/// which it checks.
class ShellMatrix {
 public:
  explicit ShellMatrix(std::shared_ptr<const BoundaryOperator> op, bool host_vectors = false);
  ~ShellMatrix();
  ShellMatrix(const ShellMatrix&) = delete;
  ShellMatrix& operator=(const ShellMatrix&) = delete;

  Mat mat() const { return mat_; }
  const BoundaryOperator& boundary_operator() const { return *op_; }

  /// Lets something else do y = A x from now on.
  using Multiply = std::function<PetscErrorCode(Vec x, Vec y)>;
  void multiply_by(Multiply multiply) { multiply_ = std::move(multiply); }

  /// Throws again what a product threw under PETSc, if one did.
  void rethrow();

 private:
  static PetscErrorCode mult(Mat mat, Vec x, Vec y);
  static PetscErrorCode mult_transpose(Mat mat, Vec x, Vec y);
  static PetscErrorCode multiply_dense(Mat mat, Mat x, Mat y, void* unused);
  static PetscErrorCode get_diagonal(Mat mat, Vec diagonal);

  std::shared_ptr<const BoundaryOperator> op_;
  Mat mat_ = nullptr;
  Multiply multiply_;
  std::exception_ptr exception_;
};

/// Preconditioning matrix of the diagonal blocks of the operator over leaves of panels, with the
/// block sizes set for PCVPBJACOBI. leaf_begin is [n_leaves + 1].
Mat make_leaf_blocks(const BoundaryOperator& op, std::span<const std::int64_t> leaf_begin);

/// All entries of an operator, for direct solves: by LAPACK, or by cuSOLVER for an operator on the
/// GPU, if PETSc has CUDA. The caller destroys it. Throws ResourceError where there is no room for
/// 16 n² bytes.
Mat make_dense_matrix(const BoundaryOperator& op);

}  // namespace fmbem
