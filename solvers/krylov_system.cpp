#include "fmbem/solvers/krylov_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "fmbem/cuda/staging.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem {
namespace {

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

/// A vector that is destroyed with its scope.
struct OwnedVec {
  Vec vec = nullptr;
  ~OwnedVec() { VecDestroy(&vec); }
};

/// A vector of the matrix's kind over the values, or with a copy of them if that is on the GPU.
PetscErrorCode make_vec(Mat mat, std::span<const double> values, Vec* vec) {
  VecType type = nullptr;
  PetscBool on_host = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(MatGetVecType(mat, &type));
  PetscCall(PetscStrcmp(type, VECSTANDARD, &on_host));
  if (on_host) {
    const auto n = static_cast<PetscInt>(values.size());
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, values.data(), vec));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscScalar* to = nullptr;
  PetscMemType place = PETSC_MEMTYPE_HOST;
  PetscCall(MatCreateVecs(mat, vec, nullptr));
  PetscCall(VecGetArrayWriteAndMemType(*vec, &to, &place));
  if (PetscMemTypeHost(place))
    std::copy(values.begin(), values.end(), to);
  else
    PetscCallCXX(cuda::copy_to_device(values.data(), values.size(), to));
  PetscCall(VecRestoreArrayWriteAndMemType(*vec, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The values of such a vector, if they are not there already.
PetscErrorCode fetch(Vec vec, std::span<double> values) {
  const PetscScalar* from = nullptr;
  PetscMemType place = PETSC_MEMTYPE_HOST;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(vec, &from, &place));
  if (!PetscMemTypeHost(place))
    PetscCallCXX(cuda::copy_to_host(from, values.size(), values.data()));
  else if (from != values.data())
    std::copy_n(from, values.size(), values.begin());
  PetscCall(VecRestoreArrayReadAndMemType(vec, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

double norm_of(std::span<const double> values) {
  constexpr std::size_t piece = 1 << 16;
  const std::size_t pieces = (values.size() + piece - 1) / piece;
  std::vector<double> sums(pieces);
#pragma omp parallel for schedule(static) if (pieces > 1)
  for (std::size_t k = 0; k < pieces; ++k)
    for (const double v : values.subspan(k * piece, std::min(piece, values.size() - k * piece)))
      sums[k] += v * v;
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

KrylovSystem::KrylovSystem(const SolverOptions& options) : options_(options) {
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp_));
    PetscCall(KSPSetType(ksp_, KSPGMRES));
    PetscCall(KSPGMRESSetRestart(ksp_, 100));
    PetscCall(
        KSPSetTolerances(ksp_, options_.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(KSPGetPC(ksp_, &pc));
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(KSPSetResidualHistory(ksp_, nullptr, PETSC_DECIDE, PETSC_TRUE));
    if (options_.monitor) PetscCall(KSPMonitorSet(ksp_, monitor, this, nullptr));
    PetscCall(KSPSetFromOptions(ksp_));
    PetscCall(prefer_true_residuals(ksp_));
    return success;
  });
}

KrylovSystem::~KrylovSystem() {
  PetscBool ended = PETSC_FALSE;
  PetscFinalized(&ended);
  if (!ended) KSPDestroy(&ksp_);
}

bool KrylovSystem::has_shell_pc() const {
  PC pc = nullptr;
  PetscBool is_shell = PETSC_FALSE;
  petsc_calls([&] {
    PetscCall(KSPGetPC(ksp_, &pc));
    PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSHELL, &is_shell));
    return success;
  });
  return is_shell;
}

void KrylovSystem::set_operator(std::shared_ptr<const BoundaryOperator> op, int vectors,
                                const ApproximateInverse* own) {
  shell_ = std::make_unique<ShellMatrix>(std::move(op), vectors, options_.host_vectors);
  vectors_ = vectors;
  inverse_ = own;
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPSetOperators(ksp_, shell_->mat(), shell_->mat()));
    PetscCall(KSPGetPC(ksp_, &pc));
    PetscCall(PCShellSetContext(pc, this));
    PetscCall(PCShellSetName(pc, inverse_->name().c_str()));
    PetscCall(PCShellSetApply(pc, precondition));
    PetscCall(KSPSetUp(ksp_));
    return success;
  });
}

void KrylovSystem::set_operator(std::shared_ptr<const BoundaryOperator> op, Mat leaf_blocks) {
  shell_ = std::make_unique<ShellMatrix>(std::move(op), 1, options_.host_vectors);
  vectors_ = 1;
  const bool is_default = has_shell_pc();
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPGetPC(ksp_, &pc));
    if (is_default) PetscCall(PCSetType(pc, PCVPBJACOBI));
    PetscCall(KSPSetOperators(ksp_, shell_->mat(), leaf_blocks));
    PetscCall(KSPSetUp(ksp_));
    return success;
  });
}

PetscErrorCode KrylovSystem::precondition(PC pc, Vec x, Vec y) {
  KrylovSystem* self = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &self));
  PetscCall(multiply(*self->inverse_, x, y, {.vectors = self->vectors_}, self->exception_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KrylovSystem::monitor(KSP ksp, PetscInt iteration, PetscReal residual, void* self) {
  PetscReal start = 0;
  PetscFunctionBeginUser;
  const auto& system = *static_cast<const KrylovSystem*>(self);
  Vec b = nullptr;
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(VecNorm(b, NORM_2, &start));
  PetscCallCXX(system.options_.monitor(static_cast<int>(iteration), residual / start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void KrylovSystem::rethrow() {
  shell_->rethrow();
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

double KrylovSystem::tolerance() const {
  PetscReal rtol = 0;
  KSPGetTolerances(ksp_, &rtol, nullptr, nullptr, nullptr);
  return rtol;
}

bool KrylovSystem::is_on_gpu() const {
  VecType type = nullptr;
  MatGetVecType(shell_->mat(), &type);
  return std::string(type) != VECSTANDARD;
}

std::span<const double> KrylovSystem::product_seconds() const {
  return shell_ ? std::span(shell_->product_seconds()) : std::span<const double>();
}

PetscErrorCode KrylovSystem::find_true_residual(Vec b, Vec x, double norm_b,
                                                SolveReport& report) const {
  const BoundaryOperator& op = shell_->boundary_operator();
  OwnedVec residual;
  PetscReal norm = 0;
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &residual.vec));
  PetscCallCXX(report.accurate_residual = multiply_afresh(op, 1, [&](const Product& product) {
                 std::exception_ptr thrown;
                 const PetscErrorCode code = multiply(op, x, residual.vec, product, thrown);
                 if (thrown) std::rethrow_exception(thrown);
                 petsc_calls([&] { return code; });
               }));
  PetscCall(VecAXPY(residual.vec, -1, b));
  PetscCall(VecNorm(residual.vec, NORM_2, &norm));
  report.true_residual = norm / norm_b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

SolveReport KrylovSystem::solve(std::span<const double> b, std::span<double> x) {
  SolveReport report;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const double rtol = tolerance(), norm_b = norm_of(b);
  const auto set_tolerance = [&](double to) {
    return KSPSetTolerances(ksp_, to, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
  };
  try {
    petsc_calls([&] {
      OwnedVec b_vec, x_vec;
      PetscInt iterations = 0, n_history = 0;
      const PetscReal* history = nullptr;
      PetscCall(make_vec(shell_->mat(), b, &b_vec.vec));
      PetscCall(make_vec(shell_->mat(), x, &x_vec.vec));
      if (vectors_ > 1) PetscCall(set_tolerance(rtol / std::sqrt(vectors_)));
      PetscCall(KSPSolve(ksp_, b_vec.vec, x_vec.vec));
      PetscCall(fetch(x_vec.vec, x));
      if (vectors_ == 1 && is_on_gpu())
        PetscCall(find_true_residual(b_vec.vec, x_vec.vec, norm_b, report));
      if (shell_->boundary_operator().processor() == Processor::gpu)
        finish_petsc_before_gpu_memory();
      if (vectors_ > 1) PetscCall(set_tolerance(rtol));
      PetscCall(KSPGetConvergedReason(ksp_, &reason));
      PetscCall(KSPGetIterationNumber(ksp_, &iterations));
      PetscCall(KSPGetResidualHistory(ksp_, &history, &n_history));
      report.iterations = static_cast<int>(iterations);
      report.reason = KSPConvergedReasons[reason];
      for (PetscInt k = 0; k < n_history; ++k) report.history.push_back(history[k] / norm_b);
      return success;
    });
  } catch (const Error&) {
    rethrow();
    throw;
  }
  report.converged = reason > 0;
  if (!report.history.empty()) report.relative_residual = report.history.back();
  return report;
}

}  // namespace fmbem
