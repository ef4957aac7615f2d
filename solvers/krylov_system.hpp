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

  /// A vector of the kind that the operator takes: it uses the values' memory or, if it is on the
  /// GPU, a copy.
  OwnedVec vector_of(std::span<const double> values) const;
  /// One for a solution: where it is a copy, values are not copied that are no guess.
  OwnedVec vector_for(std::span<double> values) const;
  /// Copies the values of such a vector back, if they are not there already.
  static void fetch(const OwnedVec& vector, std::span<double> values);

  /// What products of a solve are made to.
  struct Products {
    double tolerance = 0;      ///< Product::tolerance, of the first one if they are relaxed
    bool are_relaxed = false;  ///< the later ones, as SolverOptions::relax_from has it
  };
  /// A right-hand side b, for which x is solved from zero.
  struct Problem {
    Vec b, x;
    double tolerance;  ///< ‖b − Ax‖/‖b‖
    Products products{};
  };
  /// Solves each problem with one of the systems. These have the same operator and, if there are
  /// several, its own preconditioner.
  static std::vector<SolveReport> solve(std::span<KrylovSystem* const> systems,
                                        std::span<const Problem> problems);

  KSP ksp() const { return ksp_; }
  KrylovChoice choice() const;
  bool has_shell_pc() const;                       ///< which is what PETSc's options leave it
  double tolerance() const { return tolerance_; }  ///< in force, after PETSc's options
  /// 0 unless PETSc's options give one.
  double absolute_tolerance() const { return absolute_tolerance_; }
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
  /// Sets the tolerance of the product at hand, for the residual before it.
  PetscErrorCode relax();
  void begin(const Problem& problem);
  PetscErrorCode iterate();
  static PetscErrorCode iterate_in_step(std::span<KrylovSystem* const> systems);
  SolveReport finish(const Problem& problem);

  SolverOptions options_;
  double tolerance_ = 0, absolute_tolerance_ = 0;
  KSP ksp_ = nullptr;
  std::unique_ptr<ShellMatrix> shell_;
  std::shared_ptr<const BoundaryOperator> op_;
  const ApproximateInverse* inverse_ = nullptr;
  StackedVecs room_;  ///< of products that several systems share
  std::vector<double> product_seconds_;
  // Members that belong to the current problem:
  Vec b_ = nullptr, x_ = nullptr;
  Products products_;
  double product_tolerance_ = 0;       ///< of the product at hand
  Vec from_ = nullptr, to_ = nullptr;  ///< of the product that is waited for
  std::exception_ptr thrown_;          ///< by a product
  Lockstep* lockstep_ = nullptr;       ///< while there are others
  int task_ = 0;
};

}  // namespace fmbem
