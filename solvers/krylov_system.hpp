#pragma once

#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "fmbem/solvers/petsc.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

namespace fmbem {

/// ‖v‖ by all threads, with the same bits for any number of them.
double norm_of(std::span<const double> values);

/// Calls multiply(product) for true residuals of so many vectors: for the accurate product or,
/// where memory does not suffice for that, the operator as it is, as what is solved shall not be
/// lost. Returns whether it was the former.
template <class Multiply>
bool multiply_afresh(const BoundaryOperator& op, int vectors, Multiply&& multiply) {
  try {
    multiply(Product{.vectors = vectors, .tolerance = op.accurate_tolerance()});
    return true;
  } catch (const ResourceError&) {
    multiply(Product{.vectors = vectors});
    return false;
  }
}

/// A KSP for one number of right-hand sides, stacked in one vector, and what it works on. Reads
/// PETSc's options when it is made.
class KrylovSystem {
 public:
  explicit KrylovSystem(const SolverOptions& options);
  KrylovSystem(const KrylovSystem&) = delete;
  KrylovSystem& operator=(const KrylovSystem&) = delete;
  ~KrylovSystem();

  /// With the operator's own preconditioner, which must outlive it.
  void set_operator(std::shared_ptr<const BoundaryOperator> op, int vectors,
                    const ApproximateInverse* own);
  /// With PETSc's preconditioners on the diagonal blocks, block Jacobi by default.
  void set_operator(std::shared_ptr<const BoundaryOperator> op, Mat leaf_blocks);

  /// Solves the stacked system. Right-hand sides of norm 1 each have a residual below the tolerance
  /// if that of all n together is below tolerance/√n times their norm. Of one right-hand side on
  /// the GPU the true residual is found, too.
  SolveReport solve(std::span<const double> b, std::span<double> x);

  KSP ksp() const { return ksp_; }
  bool has_shell_pc() const;  ///< which is what PETSc's options leave it
  /// Whether the vectors are in the GPU's memory.
  bool is_on_gpu() const;
  double tolerance() const;
  /// Of each product so far.
  std::span<const double> product_seconds() const;

 private:
  static PetscErrorCode precondition(PC pc, Vec x, Vec y);
  static PetscErrorCode monitor(KSP ksp, PetscInt iteration, PetscReal residual, void* self);
  /// ‖b − Ax‖/‖b‖ of one right-hand side from vectors in the GPU's memory, where they stay.
  PetscErrorCode find_true_residual(Vec b, Vec x, double norm_b, SolveReport& report) const;
  void rethrow();

  SolverOptions options_;
  KSP ksp_ = nullptr;
  std::unique_ptr<ShellMatrix> shell_;
  int vectors_ = 1;
  const ApproximateInverse* inverse_ = nullptr;
  std::exception_ptr exception_;
};

}  // namespace fmbem
