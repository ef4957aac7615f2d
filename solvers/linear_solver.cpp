#include "fmbem/solvers/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

namespace fmbem {
namespace {

double norm_of(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

constexpr PetscErrorCode success = PETSC_SUCCESS;

/// Right preconditioning and the unpreconditioned norm, for the methods that have them and where
/// the user has not chosen; the others (cg, minres, …) keep PETSc's defaults.
PetscErrorCode prefer_true_residuals(KSP ksp) {
  PetscBool has_them = PETSC_FALSE, side_given = PETSC_FALSE, norm_given = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(ksp), &has_them, KSPGMRES,
                                      KSPFGMRES, KSPLGMRES, KSPDGMRES, KSPGCR, KSPBCGS, KSPBCGSL,
                                      KSPFBCGS, KSPTFQMR, KSPCGS, ""));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_pc_side", &side_given));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_norm_type", &norm_given));
  if (has_them && !side_given && !norm_given) {
    PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A vector over somebody else's values.
struct BorrowedVec {
  Vec vec = nullptr;
  ~BorrowedVec() { VecDestroy(&vec); }
};

}  // namespace

struct LinearSolver::Impl {
  SolverOptions options;
  KSP ksp = nullptr;
  Mat leaf_blocks = nullptr;
  std::unique_ptr<ShellMatrix> shell;

  ~Impl() {
    PetscBool ended = PETSC_FALSE;
    PetscFinalized(&ended);
    if (ended) return;
    KSPDestroy(&ksp);
    MatDestroy(&leaf_blocks);
  }

  static PetscErrorCode monitor(KSP ksp, PetscInt iteration, PetscReal residual, void* self) {
    PetscReal start = 0;
    PetscFunctionBeginUser;
    const auto& impl = *static_cast<const Impl*>(self);
    if (impl.options.monitor) {
      Vec b = nullptr;
      PetscCall(KSPGetRhs(ksp, &b));
      PetscCall(VecNorm(b, NORM_2, &start));
      PetscCallCXX(impl.options.monitor(static_cast<int>(iteration), residual / start));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

LinearSolver::LinearSolver(const SolverOptions& options) : impl_(std::make_unique<Impl>()) {
  FMBEM_REQUIRE(options.tolerance >= 1e-13 && options.tolerance <= 0.5,
                "the solver's tolerance must be between 1e-13 and 0.5, not " << options.tolerance);
  start_petsc();
  impl_->options = options;
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &impl_->ksp));
    KSP ksp = impl_->ksp;
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPGMRESSetRestart(ksp, 100));
    PetscCall(
        KSPSetTolerances(ksp, options.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCVPBJACOBI));
    PetscCall(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
    if (options.monitor) PetscCall(KSPMonitorSet(ksp, Impl::monitor, impl_.get(), nullptr));
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(prefer_true_residuals(ksp));
    return success;
  });
}

LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

void LinearSolver::set_operator(const BoundaryOperator& op,
                                std::span<const std::int64_t> leaf_begin) {
  auto shell = std::make_unique<ShellMatrix>(op);
  Mat leaf_blocks = make_leaf_blocks(op, leaf_begin);
  MatDestroy(&impl_->leaf_blocks);
  impl_->leaf_blocks = leaf_blocks;
  std::swap(impl_->shell, shell);  // the former one lives on until PETSc has let go of it
  petsc_calls([&] {
    PetscCall(KSPSetOperators(impl_->ksp, impl_->shell->mat(), leaf_blocks));
    PetscCall(KSPSetUp(impl_->ksp));
    return success;
  });
}

SolveReport LinearSolver::solve(std::span<const double> b, std::span<double> x) {
  FMBEM_REQUIRE(impl_->shell, "the solver has no operator: call set_operator() first");
  const BoundaryOperator& op = impl_->shell->boundary_operator();
  FMBEM_REQUIRE(
      b.size() == op.size() && x.size() == op.size(),
      "the operator has " << op.size() << " unknowns, b " << b.size() << " and x " << x.size());
  const double norm_b = norm_of(b);
  FMBEM_REQUIRE(std::isfinite(norm_b), "the right-hand side is not finite");
  std::fill(x.begin(), x.end(), 0.0);
  if (norm_b == 0) return {true, 0, "CONVERGED_ATOL", 0, 0, {0.0}};

  SolveReport report;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  try {
    petsc_calls([&] {
      const auto n = static_cast<PetscInt>(op.size());
      BorrowedVec b_vec, x_vec;
      PetscInt iterations = 0, n_history = 0;
      const PetscReal* history = nullptr;
      PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, b.data(), &b_vec.vec));
      PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, x.data(), &x_vec.vec));
      PetscCall(KSPSolve(impl_->ksp, b_vec.vec, x_vec.vec));
      PetscCall(KSPGetConvergedReason(impl_->ksp, &reason));
      PetscCall(KSPGetIterationNumber(impl_->ksp, &iterations));
      PetscCall(KSPGetResidualHistory(impl_->ksp, &history, &n_history));
      report.iterations = static_cast<int>(iterations);
      report.reason = KSPConvergedReasons[reason];
      for (PetscInt k = 0; k < n_history; ++k) report.history.push_back(history[k] / norm_b);
      return success;
    });
  } catch (const Error&) {
    impl_->shell->rethrow();
    throw;
  }
  if (!report.history.empty()) report.relative_residual = report.history.back();

  std::vector<double> residual(op.size());
  op.apply_accurately(x.data(), residual.data());
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= b[i];
  report.true_residual = norm_of(residual) / norm_b;
  report.converged = reason > 0 && report.true_residual <= 10 * tolerance();
  return report;
}

std::string LinearSolver::ksp_type() const {
  KSPType type = nullptr;
  KSPGetType(impl_->ksp, &type);
  return type ? type : "";
}

std::string LinearSolver::pc_type() const {
  PC pc = nullptr;
  PCType type = nullptr;
  KSPGetPC(impl_->ksp, &pc);
  PCGetType(pc, &type);
  return type ? type : "";
}

double LinearSolver::tolerance() const {
  PetscReal rtol = 0;
  KSPGetTolerances(impl_->ksp, &rtol, nullptr, nullptr, nullptr);
  return rtol;
}

double LinearSolver::median_product_seconds() const {
  if (!impl_->shell || impl_->shell->product_seconds().empty()) return 0;
  std::vector<double> seconds = impl_->shell->product_seconds();
  const auto middle = seconds.begin() + seconds.size() / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

}  // namespace fmbem
