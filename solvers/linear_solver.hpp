#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

struct SolverOptions {
  double tolerance = 1e-6;  ///< ‖b − Ax‖/‖b‖, 1e-13 … 0.5; PETSc's -ksp_rtol beats it
  /// Called after each iteration with its number and the relative residual.
  std::function<void(int iteration, double residual)> monitor{};
  /// Vectors stay in the host's memory whatever PETSc has, and products with an operator on the GPU
  /// copy two of them: GMRES keeps up to a hundred.
  bool host_vectors = false;
  const Ranks* ranks = &one_rank();  ///< that share vectors: one for now; must outlive the solver
};

/// What became of one right-hand side.
struct SolveReport {
  bool converged = false;  ///< by PETSc's word and by the true residual
  int iterations = 0;
  std::string reason;            ///< PETSc's, such as CONVERGED_RTOL
  double relative_residual = 0;  ///< that the Krylov method knows
  double true_residual = 0;  ///< ‖b − Ax‖/‖b‖, computed afresh to accurate_tolerance()
  /// Unless memory did not suffice for that: then it is to the operator's own.
  bool accurate_residual = true;
  std::vector<double> history;  ///< relative residuals, from the start
};

/// GMRES (right preconditioning, unpreconditioned norm, restart 100) with the operator's own
/// approximate inverse, or block Jacobi over leaves of panels where it has none, through PETSc's
/// KSP: every option of PETSc's command line applies. -pc_type with anything but shell works on the
/// matrix of the leaves' diagonal blocks.
class LinearSolver {
 public:
  /// Reads PETSc's options, so unknown solver types come to light before anything is computed.
  /// Throws InputError for them, for a tolerance out of range and for several ranks.
  explicit LinearSolver(const SolverOptions& options);
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  /// Sets the operator, which it shares from then on, and its leaves; builds the preconditioner.
  /// Another operator may have another size, and be on another processor: then PETSc's options are
  /// read anew.
  void set_operator(std::shared_ptr<const BoundaryOperator> op,
                    std::span<const std::int64_t> leaf_begin);

  /// Solves A x = b from x = 0. After it b − Ax is computed afresh: above ten times the tolerance
  /// the solve is not converged whatever PETSc's reason says. Where memory does not suffice for
  /// that, the operator as it is serves, and the report says so.
  SolveReport solve(std::span<const double> b, std::span<double> x);

  /// The same for several right-hand sides, [n_vectors][size of A]. With the operator's own
  /// preconditioner up to four at a time share a Krylov space of vectors for all of them, and so
  /// each product (their reports then agree but for the true residual); else one after the other.
  std::vector<SolveReport> solve(std::span<const double> b, std::span<double> x, int n_vectors);

  std::string ksp_type() const;
  std::string pc_type() const;                ///< PETSc's, or the name of the operator's own
  double tolerance() const;                   ///< in force, after PETSc's options
  double median_product_seconds() const;      ///< 0 before the first product
  std::int64_t preconditioner_bytes() const;  ///< of the operator's own

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem
