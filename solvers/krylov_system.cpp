#include "fmbem/solvers/krylov_system.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "fmbem/cuda/staging.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem {
namespace {

/// Defaults, which PETSc's options overrule: vectors kept until a restart, and iterations.
constexpr PetscInt restart = 100, most_iterations = 300;

/// Right preconditioning and the unpreconditioned norm, for methods that have them and unless the
/// user has chosen. Other methods (cg, minres, …) keep PETSc's defaults.
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

/// The restart of GMRES for all methods that restart, unless the user has chosen.
PetscErrorCode set_restart(KSP ksp) {
  PetscBool gmres_given = PETSC_FALSE, gcr_given = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_gmres_restart", &gmres_given));
  PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_gcr_restart", &gcr_given));
  // For other types these calls do nothing.
  if (!gmres_given) PetscCall(KSPGMRESSetRestart(ksp, restart));
  if (!gcr_given) PetscCall(KSPGCRSetRestart(ksp, restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `is_filled`: whether the values are to be there.
PetscErrorCode make_vec(Mat mat, std::span<const double> values, bool is_filled, Vec* vec) {
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
  if (!is_filled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayWriteAndMemType(*vec, &to, &place));
  if (PetscMemTypeHost(place))
    std::copy(values.begin(), values.end(), to);
  else
    PetscCallCXX(cuda::copy_to_device(values.data(), values.size(), to));
  PetscCall(VecRestoreArrayWriteAndMemType(*vec, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fetch_values(Vec vec, std::span<double> values) {
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

/// What PETSc cannot do here, such as a million vectors before a restart, its options ask for.
void set_up(KSP ksp) try {
  petsc_calls([&] { return KSPSetUp(ksp); });
} catch (const Error& error) {
  if (error.code() != ExitCode::internal_error) throw;
  throw InputError(std::string("the solver that PETSc's options ask for cannot be set up: ") +
                   error.what());
}

}  // namespace

KrylovSystem::KrylovSystem(const SolverOptions& options) : options_(options) {
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp_));
    PetscCall(KSPSetType(ksp_, KSPGMRES));
    // PETSc's own absolute tolerance, 1e-50, would end a solve for small data with x = 0.
    PetscCall(KSPSetTolerances(ksp_, options_.tolerance, 0, PETSC_DEFAULT, most_iterations));
    PetscCall(KSPGetPC(ksp_, &pc));
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(KSPSetResidualHistory(ksp_, nullptr, PETSC_DECIDE, PETSC_TRUE));
    if (options_.monitor) PetscCall(KSPMonitorSet(ksp_, monitor, this, nullptr));
    PetscCall(KSPSetFromOptions(ksp_));
    PetscCall(set_restart(ksp_));
    PetscCall(prefer_true_residuals(ksp_));
    PetscCall(KSPGetTolerances(ksp_, &tolerance_, &absolute_tolerance_, nullptr, nullptr));
    return success;
  });
  FMBEM_REQUIRE(tolerance_ >= least_solver_tolerance,
                "-ksp_rtol must be at least " << least_solver_tolerance << ", not " << tolerance_
                                              << ": true residuals are not accurate to less");
  KSPType type = nullptr;
  KSPGetType(ksp_, &type);
  // PETSc finds that out in the middle of a solve, and multigrid crashes on the way out of it.
  for (const std::string_view transposing : {KSPBICG, KSPIBCGS, KSPCGNE, KSPCGLS, KSPLSQR})
    FMBEM_REQUIRE(type != transposing,
                  "-ksp_type " << type
                               << " takes products with the transposed preconditioner, "
                                  "which is not there: take gmres, fgmres, bcgs or tfqmr");
}

KrylovSystem::~KrylovSystem() {
  PetscBool ended = PETSC_FALSE;
  PetscFinalized(&ended);
  if (ended)
    room_.x.vec = room_.y.vec = nullptr;
  else
    KSPDestroy(&ksp_);
}

KrylovChoice KrylovSystem::choice() const {
  KrylovChoice choice;
  petsc_calls([&] {
    KSPType type = nullptr;
    PCSide side = PC_SIDE_DEFAULT;
    KSPNormType norm = KSP_NORM_DEFAULT;
    PetscInt restarts_at = 0;
    PetscBool is_gcr = PETSC_FALSE;
    void (*restart_of_gmres)() = nullptr;
    const auto object = reinterpret_cast<PetscObject>(ksp_);
    PetscCall(KSPGetType(ksp_, &type));
    PetscCall(KSPGetPCSide(ksp_, &side));
    PetscCall(KSPGetNormType(ksp_, &norm));
    // GMRES and all of its kind, but for dgmres.
    PetscCall(PetscObjectQueryFunction(object, "KSPGMRESGetRestart_C", &restart_of_gmres));
    PetscCall(PetscObjectTypeCompare(object, KSPGCR, &is_gcr));
    if (restart_of_gmres) PetscCall(KSPGMRESGetRestart(ksp_, &restarts_at));
    if (is_gcr) PetscCall(KSPGCRGetRestart(ksp_, &restarts_at));
    choice = {type ? type : "", PCSides[side], KSPNormTypes[norm], static_cast<int>(restarts_at)};
    return success;
  });
  for (std::string* name : {&choice.side, &choice.norm})
    std::transform(name->begin(), name->end(), name->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return choice;
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

OwnedVec KrylovSystem::vector_of(std::span<const double> values) const {
  OwnedVec vector;
  petsc_calls([&] { return make_vec(shell_->mat(), values, true, &vector.vec); });
  return vector;
}

OwnedVec KrylovSystem::vector_for(std::span<double> values) const {
  OwnedVec vector;
  petsc_calls([&] {
    PetscBool is_guess = PETSC_FALSE;  // by PETSc's options
    PetscCall(KSPGetInitialGuessNonzero(ksp_, &is_guess));
    return make_vec(shell_->mat(), values, is_guess == PETSC_TRUE, &vector.vec);
  });
  return vector;
}

void KrylovSystem::fetch(const OwnedVec& vector, std::span<double> values) {
  petsc_calls([&] { return fetch_values(vector.vec, values); });
}

void KrylovSystem::set_operator(std::shared_ptr<const BoundaryOperator> op,
                                const ApproximateInverse* own) {
  op_ = std::move(op);
  inverse_ = own;
  shell_ = std::make_unique<ShellMatrix>(op_, options_.host_vectors);
  shell_->multiply_by([this](Vec x, Vec y) { return apply(product, x, y); });
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPSetOperators(ksp_, shell_->mat(), shell_->mat()));
    PetscCall(KSPGetPC(ksp_, &pc));
    PetscCall(PCShellSetContext(pc, this));
    PetscCall(PCShellSetName(pc, inverse_->name().c_str()));
    PetscCall(PCShellSetApply(pc, precondition));
    return success;
  });
  set_up(ksp_);
}

void KrylovSystem::set_operator(std::shared_ptr<const BoundaryOperator> op, Mat leaf_blocks) {
  op_ = std::move(op);
  inverse_ = nullptr;
  shell_ = std::make_unique<ShellMatrix>(op_, options_.host_vectors);
  shell_->multiply_by([this](Vec x, Vec y) { return apply(product, x, y); });
  const bool is_default = has_shell_pc();
  petsc_calls([&] {
    PC pc = nullptr;
    PetscCall(KSPGetPC(ksp_, &pc));
    if (is_default) PetscCall(PCSetType(pc, PCVPBJACOBI));
    PetscCall(KSPSetOperators(ksp_, shell_->mat(), leaf_blocks));
    return success;
  });
  set_up(ksp_);
}

PetscErrorCode KrylovSystem::precondition(PC pc, Vec x, Vec y) {
  KrylovSystem* self = nullptr;
  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &self));
  PetscCall(self->apply(preconditioning, x, y));
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

PetscErrorCode KrylovSystem::relax() {
  PetscReal residual = 0, start = 0;
  PetscInt iteration = 0, cycle = 0;
  PetscBool is_gcr = PETSC_FALSE;
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(ksp_), KSPGCR, &is_gcr));
  PetscCall(is_gcr ? KSPGCRGetRestart(ksp_, &cycle) : KSPGMRESGetRestart(ksp_, &cycle));
  PetscCall(KSPGetIterationNumber(ksp_, &iteration));
  PetscCall(KSPGetResidualNorm(ksp_, &residual));
  PetscCall(VecNorm(b_, NORM_2, &start));
  const bool in_a_cycle = iteration % cycle != 0 && residual > 0 && residual < start;
  product_tolerance_ = products_.tolerance * (in_a_cycle ? start / residual : 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KrylovSystem::apply(Kind kind, Vec x, Vec y) {
  PetscFunctionBeginUser;
  if (kind == product && products_.are_relaxed) PetscCall(relax());
  from_ = x;
  to_ = y;
  if (lockstep_) {
    PetscCheck(lockstep_->wait_for(task_, kind), PETSC_COMM_SELF, PETSC_ERR_LIB,
               "a product failed");
  } else {
    KrylovSystem* const self = this;
    PetscCall(serve(kind, {&self, 1}, thrown_));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KrylovSystem::serve(Kind kind, std::span<KrylovSystem* const> systems,
                                   std::exception_ptr& thrown) {
  const Timer timer;
  KrylovSystem& first = *systems.front();
  std::vector<Vec> x, y;
  double tolerance = first.product_tolerance_;  // the tightest; 0 is the operator's own
  for (const KrylovSystem* system : systems) {
    x.push_back(system->from_);
    y.push_back(system->to_);
    tolerance = std::min(tolerance, system->product_tolerance_);
  }
  PetscFunctionBeginUser;
  if (kind == preconditioning) {
    PetscCall(multiply_together(*first.inverse_, x, y, 0, first.room_, thrown));
  } else {
    PetscCall(multiply_together(*first.op_, x, y, tolerance, first.room_, thrown));
    first.product_seconds_.push_back(timer.seconds());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KrylovSystem::iterate() {
  const PetscErrorCode code = KSPSolve(ksp_, b_, x_);
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return code;
}

PetscErrorCode KrylovSystem::iterate_in_step(std::span<KrylovSystem* const> systems) {
  struct Failure {
    PetscErrorCode code;
  };
  std::vector<PetscErrorCode> codes(systems.size(), success);
  Lockstep lockstep;
  for (std::size_t k = 0; k < systems.size(); ++k) {
    systems[k]->lockstep_ = &lockstep;
    systems[k]->task_ = static_cast<int>(k);
  }
  try {
    lockstep.run(
        static_cast<int>(systems.size()),
        [&](int k) { codes[k] = KSPSolve(systems[k]->ksp_, systems[k]->b_, systems[k]->x_); },
        [&](int kind, std::span<const int> tasks) {
          std::vector<KrylovSystem*> some;
          for (const int k : tasks) some.push_back(systems[k]);
          std::exception_ptr thrown;
          const PetscErrorCode code = serve(static_cast<Kind>(kind), some, thrown);
          if (thrown) std::rethrow_exception(thrown);
          if (code != success) throw Failure{code};
        });
  } catch (const Failure& failure) {
    codes.front() = failure.code;
  }
  for (KrylovSystem* system : systems) system->lockstep_ = nullptr;
  const auto bad =
      std::find_if(codes.begin(), codes.end(), [](auto code) { return code != success; });
  return bad == codes.end() ? success : *bad;
}

void KrylovSystem::begin(const Problem& problem) {
  b_ = problem.b;
  x_ = problem.x;
  products_ = problem.products;
  product_tolerance_ = products_.tolerance;
  petsc_calls([&] {
    return KSPSetTolerances(ksp_, problem.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
  });
}

SolveReport KrylovSystem::finish(const Problem& problem) {
  SolveReport report;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  petsc_calls([&] {
    PetscInt iterations = 0, n_history = 0;
    const PetscReal* history = nullptr;
    PetscReal norm_b = 0;
    KSPNormType norm = KSP_NORM_DEFAULT;
    PetscCall(VecNorm(problem.b, NORM_2, &norm_b));
    PetscCall(KSPGetConvergedReason(ksp_, &reason));
    PetscCall(KSPGetIterationNumber(ksp_, &iterations));
    PetscCall(KSPGetNormType(ksp_, &norm));
    PetscCall(KSPGetResidualHistory(ksp_, &history, &n_history));
    if (norm == KSP_NORM_NONE) n_history = 0;  // PETSc writes zeros
    report.iterations = static_cast<int>(iterations);
    report.reason = KSPConvergedReasons[reason];
    for (PetscInt k = 0; k < n_history; ++k) report.history.push_back(history[k] / norm_b);
    return success;
  });
  report.converged = reason > 0;
  if (!report.history.empty()) report.relative_residual = report.history.back();
  return report;
}

std::vector<SolveReport> KrylovSystem::solve(std::span<KrylovSystem* const> systems,
                                             std::span<const Problem> problems) {
  for (std::size_t k = 0; k < problems.size(); ++k) systems[k]->begin(problems[k]);
  // PETSc's error handlers are a stack: only this thread may push onto it.
  petsc_calls([&] {
    return problems.size() == 1 ? systems.front()->iterate()
                                : iterate_in_step(systems.first(problems.size()));
  });
  std::vector<SolveReport> reports;
  for (std::size_t k = 0; k < problems.size(); ++k)
    reports.push_back(systems[k]->finish(problems[k]));
  if (systems.front()->op_->processor() == Processor::gpu) finish_petsc_before_gpu_memory();
  return reports;
}

}  // namespace fmbem
