#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// How many right-hand sides go in step, at the most: as many as share what products read.
inline constexpr int most_together = 4, most_together_on_gpu = 8;

/// The least tolerance: true residuals have that error.
inline constexpr double least_solver_tolerance = 1e-13;

struct SolverOptions {
  double tolerance = 1e-6;  ///< ‖b − Ax‖/‖b‖, 1e-13 … 0.5; or PETSc's -ksp_rtol
  /// Called after each iteration with its number and the relative residual.
  std::function<void(int iteration, double residual)> monitor{};
  /// Vectors stay in the host's memory even where PETSc could have them on the GPU. Then each
  /// product with an operator there copies two vectors, but GMRES, which keeps up to a hundred,
  /// takes no GPU memory.
  bool host_vectors = false;
  /// Above 0: inexact Krylov. The product of step k may be as inaccurate as this over the relative
  /// residual before it, by the bound of Simoncini and Szyld (2003, SIAM J. Sci. Comput. 25,
  /// theorem 5.3): ‖E_k‖ ‖r_{k−1}‖ ≤ ε for GMRES, FGMRES and GCR, whose other factors, the least
  /// singular value of the Hessenberg matrix over the number of steps, are left to what this is
  /// below the tolerance. For operators with OperatorOptions::relaxes, of which this is the
  /// tolerance. Products at a restart are not relaxed.
  double relax_from = 0;
  /// Whether solves of four right-hand sides or more, by GMRES, FGMRES or GCR as relax_from has
  /// them, take loose products where these cost much less (BoundaryOperator::cheap_tolerance()),
  /// and true residuals correct what comes of that. For fewer what these need takes longer than
  /// they save.
  bool loose_products = true;
  const Ranks* ranks = &one_rank();  ///< that share vectors: one for now; must outlive the solver
};

/// How the Krylov method goes, as PETSc names it, after its options.
struct KrylovChoice {
  std::string type, side, norm;  ///< such as gmres, right, unpreconditioned
  int restart = 0;               ///< vectors kept until then; 0 of methods that do not restart
};

/// A step of iterative refinement: a solve for the residual that was left.
struct RefinementStep {
  int iterations = 0;
  double product_tolerance = 0;  ///< the Product::tolerance to which the residual after it is known
  double true_residual = 0;      ///< after it
};

/// What became of one right-hand side.
struct SolveReport {
  bool converged = false;        ///< by PETSc's word and by the true residual
  int iterations = 0;            ///< without those of refinements
  std::string reason;            ///< PETSc's, such as CONVERGED_RTOL
  double relative_residual = 0;  ///< that the Krylov method knows, without refinements
  double true_residual = 0;  ///< ‖b − Ax‖/‖b‖, computed afresh, as accurately as x asks for
  /// False if memory did not suffice for that: then it is by the operator's own product.
  bool accurate_residual = true;
  /// Relative residuals, from the start: iterations + 1 of them, or none with -ksp_norm_type none.
  std::vector<double> history;
  std::vector<RefinementStep> refinements{};  ///< after that, if there were any
  /// ‖A‖‖x‖/‖b‖, the condition of this problem. It is large where charges cancel, as products then
  /// cancel too; 0 where the operator does not know its norm.
  double condition = 0;
  /// Where no product is accurate enough for the tolerance: the residual that products can attain,
  /// to which the true one, which may be less, is known; else 0.
  double attainable_residual = 0;
  double rhs_norm = 0;  ///< ‖b‖
};

/// GMRES (right preconditioning, unpreconditioned norm, restart 100, at most 300 iterations) with
/// the operator's own approximate inverse, or block Jacobi over leaves of panels where it has none,
/// through PETSc's KSP: every option of PETSc's command line applies. -pc_type with anything but
/// shell works on the matrix of the leaves' diagonal blocks.
class LinearSolver {
 public:
  /// Reads PETSc's options, so that unknown solver types are found before anything is computed.
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

  /// Solves A x = b from x = 0. Then b − Ax is computed afresh, as accurately as x asks for, and if
  /// it is above the tolerance the solution is refined. If it stays above, the solve is not
  /// converged, whatever PETSc's reason says. If memory does not suffice for the accurate product,
  /// the operator's own serves: the report says so, and a residual of ten times the tolerance is
  /// enough.
  SolveReport solve(std::span<const double> b, std::span<double> x);

  /// The same for several right-hand sides, [n_vectors][size of A]. With the operator's own
  /// preconditioner up to four at a time, on a GPU eight, go in step and share products; each has a
  /// Krylov space, a history and an end of its own. With others they go one after the other. True
  /// residuals are found of up to 32 at a time. There are fewer of both where their vectors would
  /// take much of a GPU's memory.
  std::vector<SolveReport> solve(std::span<const double> b, std::span<double> x, int n_vectors);
  /// Wherever they are.
  std::vector<SolveReport> solve(std::span<const std::span<const double>> b,
                                 std::span<const std::span<double>> x);

  KrylovChoice krylov() const;
  std::string ksp_type() const { return krylov().type; }
  std::string pc_type() const;                ///< PETSc's, or the name of the operator's own
  double tolerance() const;                   ///< in force, after PETSc's options
  double median_product_seconds() const;      ///< 0 before the first product
  std::int64_t preconditioner_bytes() const;  ///< of the operator's own

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem
