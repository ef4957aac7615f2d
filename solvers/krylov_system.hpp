#pragma once

#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "fmbem/solvers/lockstep.hpp"
#include "fmbem/solvers/petsc.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

namespace fmbem {

/// A KSP with one right-hand side at a time. Several of them solve in step: each has its own Krylov
/// space, history and end, but they share products of several vectors.
class KrylovSystem {
 public:
  /// Reads PETSc's options.
  explicit KrylovSystem(const SolverOptions& options);
  KrylovSystem(const KrylovSystem&) = delete;
  KrylovSystem& operator=(const KrylovSystem&) = delete;
  ~KrylovSystem();

  /// With the operator's own preconditioner, which must outlive it.
  void set_operator(std::shared_ptr<const BoundaryOperator> op, const ApproximateInverse* own);
  /// With PETSc's preconditioners on the diagonal blocks, block Jacobi by default.
  void set_operator(std::shared_ptr<const BoundaryOperator> op, Mat leaf_blocks);

  /// Sets a right-hand side, and zero as the first guess.
  struct Problem {
    std::span<const double> b;
    std::span<double> x;
    double tolerance;          ///< ‖b − Ax‖/‖b‖
    double product_tolerance;  ///< Product::tolerance of the products
  };
  /// Solves each problem with one of the systems. These have the same operator and, if there are
  /// several, its own preconditioner.
  static std::vector<SolveReport> solve(std::span<KrylovSystem* const> systems,
                                        std::span<const Problem> problems);

  /// ‖b − Ax‖/‖b‖ of the last problem, from its vectors, by a product to that tolerance.
  double find_residual(double tolerance);

  KSP ksp() const { return ksp_; }
  KrylovChoice choice() const;
  bool has_shell_pc() const;  ///< which is what PETSc's options leave it
  /// Whether the vectors are in the GPU's memory.
  bool is_on_gpu() const;
  double tolerance() const { return tolerance_; }  ///< in force, after PETSc's options
  /// Seconds of each product so far; a product that several systems share counts once.
  const std::vector<double>& product_seconds() const { return product_seconds_; }

 private:
  enum Kind { product, preconditioning };
  static PetscErrorCode precondition(PC pc, Vec x, Vec y);
  static PetscErrorCode monitor(KSP ksp, PetscInt iteration, PetscReal residual, void* self);
  /// y = A x, or the preconditioner's product; alone or in step with others.
  PetscErrorCode apply(Kind kind, Vec x, Vec y);
  /// The same for some systems at once.
  static PetscErrorCode serve(Kind kind, std::span<KrylovSystem* const> systems,
                              std::exception_ptr& thrown);
  /// Sets the tolerance of the product at hand.
  PetscErrorCode relax();
  void begin(const Problem& problem);
  PetscErrorCode iterate();
  static PetscErrorCode iterate_in_step(std::span<KrylovSystem* const> systems);
  SolveReport finish(const Problem& problem);

  SolverOptions options_;
  double tolerance_ = 0;
  KSP ksp_ = nullptr;
  std::unique_ptr<ShellMatrix> shell_;
  std::shared_ptr<const BoundaryOperator> op_;
  const ApproximateInverse* inverse_ = nullptr;
  std::vector<double> product_seconds_;
  // Members that belong to the current problem:
  OwnedVec b_, x_;
  double product_tolerance_ = 0;
  Vec from_ = nullptr, to_ = nullptr;  ///< of the product that is waited for
  std::exception_ptr thrown_;          ///< by a product
  Lockstep* lockstep_ = nullptr;       ///< while there are others
  int task_ = 0;
};

}  // namespace fmbem
