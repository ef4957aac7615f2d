#include "fmbem/solvers/krylov_run.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/solvers/krylov_system.hpp"
#include "fmbem/solvers/norm.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/refinement.hpp"

namespace fmbem {
namespace {

/// A product that several share is that of one of them.
std::size_t products_of(std::span<KrylovSystem* const> systems) {
  std::size_t count = 0;
  for (const KrylovSystem* system : systems) count += system->product_seconds().size();
  return count;
}

/// Whether PETSc starts from what solutions before say (KSPGuess).
bool guesses() {
  PetscBool has_guess = PETSC_FALSE;
  petsc_calls([&] {
    PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_guess_type", &has_guess));
    return success;
  });
  return has_guess == PETSC_TRUE;
}

void check_guessing(const KrylovRun& run, const KrylovRunReport& report) {
  FMBEM_REQUIRE(report.norm == "unpreconditioned",
                "guesses from solutions before (-ksp_guess_type) need the unpreconditioned norm, "
                "which "
                    << report.method << " has from the right, not the norm " << report.norm);
  FMBEM_REQUIRE(run.repeats == 1,
                "a repeat would guess its own solution: use --repeat 1 with -ksp_guess_type");
}

/// Ritz values and singular values of the Krylov space, of the methods that have them.
void add_spectrum(KSP ksp, KrylovRunReport& report) {
  petsc_calls([&] {
    PetscInt iterations = 0, found = 0;
    PetscCall(KSPGetIterationNumber(ksp, &iterations));
    if (iterations == 0) return success;
    std::vector<PetscReal> real(iterations), imaginary(iterations);
    PetscCall(KSPComputeEigenvalues(ksp, iterations, real.data(), imaginary.data(), &found));
    for (PetscInt k = 0; k < found; ++k) report.ritz.emplace_back(real[k], imaginary[k]);
    PetscReal largest = 0, smallest = 0;
    PetscCall(KSPComputeExtremeSingularValues(ksp, &largest, &smallest));
    report.largest_singular = std::max(largest, 0.0);
    report.smallest_singular = std::max(smallest, 0.0);
    return success;
  });
}

void check_right_hand_sides(std::span<const double> b, std::size_t n) {
  for (std::size_t v = 0; v * n < b.size(); ++v) {
    const double norm = norm_of(b.subspan(v * n, n));
    FMBEM_REQUIRE(norm >= least_norm && norm <= largest_norm,
                  "the norm of right-hand side " << v << " is " << norm
                                                 << ", and must be between 1e-100 and 1e100 for "
                                                    "relative residuals: give it another scale");
  }
}

/// What PETSc has made of the options but what relaxing needs.
void check_relaxing(const KrylovRunReport& report) {
  FMBEM_REQUIRE(
      (report.method == KSPGMRES || report.method == KSPFGMRES || report.method == KSPGCR) &&
          report.norm == "unpreconditioned",
      "products are relaxed for gmres, fgmres and gcr from the right, not for "
          << report.method << " with the norm " << report.norm);
}

/// Corrects solutions until their true residuals are below the tolerance.
void refine(const BoundaryOperator& op, double tolerance, std::span<const double> b,
            std::span<const KrylovSystem::Problem> problems, std::vector<SolveReport>& solves,
            const Refinement::Solve& solve, double relax_from) {
  const std::size_t n = op.size();
  std::vector<SolvedProblem> solved;
  for (std::size_t k = 0; k < solves.size(); ++k)
    solved.push_back({problems[k].b, problems[k].x, norm_of(b.subspan(k * n, n)), &solves[k]});
  Refinement(op, tolerance, solve, relax_from).refine(solved);
}

/// The operator that the method works with.
DenseMatrix preconditioned_matrix(KSP ksp) {
  DenseMatrix matrix;
  Mat dense = nullptr;
  petsc_calls([&] {
    const PetscScalar* values = nullptr;
    PetscInt n = 0;
    PetscCall(KSPComputeOperator(ksp, MATDENSE, &dense));
    PetscCall(MatGetSize(dense, &n, nullptr));
    PetscCall(MatDenseGetArrayRead(dense, &values));
    matrix.n = static_cast<int>(n);
    matrix.values.assign(values, values + std::size_t(n) * n);
    PetscCall(MatDenseRestoreArrayRead(dense, &values));
    PetscCall(MatDestroy(&dense));
    return success;
  });
  return matrix;
}

/// ‖b − A x‖/‖b‖ of each, by a product of that tolerance.
void add_true_residuals(const BoundaryOperator& op, std::span<const double> b,
                        std::span<const double> x, double tolerance,
                        std::vector<SolveReport>& solves) {
  const std::size_t n = op.size();
  std::vector<double> residual(b.begin(), b.end());
  op.apply(
      x.data(), residual.data(),
      {.vectors = static_cast<int>(solves.size()), .tolerance = tolerance, .alpha = -1, .beta = 1});
  for (std::size_t k = 0; k < solves.size(); ++k)
    solves[k].true_residual =
        norm_of(std::span<const double>(residual).subspan(k * n, n)) / norm_of(b.subspan(k * n, n));
}

}  // namespace

KrylovRunReport run_krylov(const KrylovRun& run, const std::shared_ptr<const BoundaryOperator>& op,
                           const ApproximateInverse* inverse, Mat matrix, std::span<const double> b,
                           std::span<double> x, int n_vectors) {
  start_petsc();
  const PetscOptionScope options(run.options);
  const std::size_t n = op->size();
  check_right_hand_sides(b, n);
  const int together = inverse ? std::min(run.in_step, n_vectors) : 1;
  std::vector<std::unique_ptr<KrylovSystem>> owned;
  std::vector<KrylovSystem*> systems;
  for (int k = 0; k < together; ++k) {
    owned.push_back(std::make_unique<KrylovSystem>(
        SolverOptions{.tolerance = run.tolerance, .relax_from = run.relax_from}));
    systems.push_back(owned.back().get());
  }
  KrylovSystem& first = *systems.front();
  if (run.with_spectrum)
    petsc_calls([&] {
      PetscCall(KSPSetComputeEigenvalues(first.ksp(), PETSC_TRUE));
      PetscCall(KSPSetComputeSingularValues(first.ksp(), PETSC_TRUE));
      return success;
    });
  for (KrylovSystem* system : systems) {
    if (inverse)
      system->set_operator(op, inverse);
    else
      system->set_operator(op, matrix);
  }

  KrylovRunReport report;
  report.in_step = together;
  const KrylovChoice choice = first.choice();
  report.method = choice.type;
  report.side = choice.side;
  report.norm = choice.norm;
  report.restart = choice.restart;
  report.tolerance = first.tolerance();
  const bool has_guesses = guesses();
  if (has_guesses) check_guessing(run, report);
  if (run.relax_from > 0) check_relaxing(report);
  const auto solve_all = [&](std::span<const KrylovSystem::Problem> problems) {
    std::vector<SolveReport> solves;
    for (std::size_t begin = 0; begin < problems.size(); begin += together) {
      auto some = KrylovSystem::solve(
          systems,
          problems.subspan(begin, std::min<std::size_t>(together, problems.size() - begin)));
      std::move(some.begin(), some.end(), std::back_inserter(solves));
    }
    return solves;
  };
  for (int repeat = 0; repeat < run.repeats; ++repeat) {
    std::fill(x.begin(), x.end(), 0.0);
    const std::size_t products_before = products_of(systems);
    const Timer timer;
    std::vector<OwnedVec> vectors;
    std::vector<KrylovSystem::Problem> problems;
    for (int v = 0; v < n_vectors; ++v) {
      for (const std::span<const double> values : {b, std::span<const double>(x)})
        vectors.push_back(first.vector_of(values.subspan(v * n, n)));
      problems.push_back({vectors[2 * v].vec,
                          vectors[2 * v + 1].vec,
                          first.tolerance(),
                          {run.relax_from, run.relax_from > 0}});
    }
    report.solves = solve_all(problems);
    if (run.refine_to > 0)
      refine(*op, run.refine_to, b, problems, report.solves, solve_all, run.relax_from);
    for (int v = 0; v < n_vectors; ++v)
      KrylovSystem::fetch(vectors[2 * v + 1], x.subspan(v * n, n));
    report.seconds.push_back(timer.seconds());
    report.products = static_cast<int>(products_of(systems) - products_before);
  }
  if (run.with_spectrum) add_spectrum(first.ksp(), report);
  for (SolveReport& solve : report.solves) {
    // The systems divide by ‖b‖, which is not what a preconditioned norm starts from.
    const double start = solve.history.empty() || has_guesses ? 0 : solve.history.front();
    if (start > 0)
      for (double& residual : solve.history) residual /= start;
    if (!solve.history.empty()) solve.relative_residual = solve.history.back();
  }
  // Of refined solutions by products of the last digit.
  add_true_residuals(*op, b, x,
                     run.refine_to > 0 && op->accurate_tolerance() > 0 ? op->tightest_tolerance()
                                                                       : op->accurate_tolerance(),
                     report.solves);
  if (run.with_matrix) report.matrix = preconditioned_matrix(first.ksp());
  report.unused = options.unused();
  return report;
}

KrylovChoice krylov_choice(const std::vector<PetscOption>& options) {
  start_petsc();
  const PetscOptionScope scope(options);
  return KrylovSystem(SolverOptions{}).choice();
}

}  // namespace fmbem
