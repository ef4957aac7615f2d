#pragma once

#include <complex>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "fmbem/solvers/petsc.hpp"
#include "fmbem/solvers/petsc_options.hpp"
#include "fmbem/solvers/spectrum.hpp"

namespace fmbem {

/// A Krylov method as PETSc's options have it, to be looked at as it is: without the refinement of
/// LinearSolver.
struct KrylovRun {
  std::vector<PetscOption> options{};  ///< in force for this run
  double tolerance = 1e-6;             ///< relative residual, as SolverOptions::tolerance
  /// Solves so often, from zero each time, for the spread of the times.
  int repeats = 1;
  /// So many right-hand sides share products, 1 to 4; 1 without an inverse of the operator's own.
  /// One after the other they can use what PETSc keeps of those before, such as -ksp_guess_type.
  int in_step = most_together;
  double relax_from = 0;  ///< SolverOptions::relax_from
  /// Above 0: goes on as Refinement does, by corrections of which each is solved for by this
  /// method, until the true residual is as small.
  double refine_to = 0;
  bool with_spectrum = false;  ///< Ritz values and singular values of a Krylov space
  /// The preconditioned operator as a matrix, by n products.
  bool with_matrix = false;
};

struct KrylovRunReport {
  /// One for each right-hand side. The histories are relative to that of x = 0, in the norm that
  /// the method works with; true residuals come from the accurate product.
  std::vector<SolveReport> solves;
  /// As PETSc names them: gmres, …; left, right or symmetric; none, preconditioned,
  /// unpreconditioned or natural.
  std::string method, side, norm;
  int restart = 0;              ///< 0 of methods without one
  double tolerance = 0;         ///< in force, after PETSc's options
  int in_step = 1;              ///< right-hand sides that shared products, at the most
  int products = 0;             ///< of one repeat, those in step once
  std::vector<double> seconds;  ///< [repeats]
  /// Of the preconditioned operator, from the last right-hand side of the last repeat, or of those
  /// in step the first.
  std::vector<std::complex<double>> ritz;
  double largest_singular = 0, smallest_singular = 0;  ///< Ritz's as well; 0 where not known
  std::vector<std::string> unused;                     ///< options that nothing has asked for
  DenseMatrix matrix;                                  ///< A M⁻¹ or, from the left, M⁻¹ A
};

/// Solves A x = b for several right-hand sides [n_vectors][n] from x = 0 with PETSc's KSP. The
/// preconditioner is `inverse` or, where that is null, PETSc's of the options on `matrix`, which is
/// leaf blocks or any other matrix near to A. Throws InputError for what the method cannot do, and
/// for norms of right-hand sides that are not between 1e-100 and 1e100.
KrylovRunReport run_krylov(const KrylovRun& run, const std::shared_ptr<const BoundaryOperator>& op,
                           const ApproximateInverse* inverse, Mat matrix, std::span<const double> b,
                           std::span<double> x, int n_vectors);

/// How the method of these options goes. Throws InputError for options that no KSP can be made
/// with, such as an unknown type.
KrylovChoice krylov_choice(const std::vector<PetscOption>& options);

}  // namespace fmbem
