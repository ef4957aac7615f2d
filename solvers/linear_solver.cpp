#include "fmbem/solvers/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "fmbem/cuda/staging.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

namespace fmbem {
namespace {

/// By all threads, with the same bits for any number of them.
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

/// Right-hand sides that are solved for together.
constexpr int most_together = 4;

/// A KSP for one number of right-hand sides, and what it works on.
struct System {
  explicit System(const SolverOptions& solver_options) : options(solver_options) {
    petsc_calls([&] {
      PC pc = nullptr;
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetType(ksp, KSPGMRES));
      PetscCall(KSPGMRESSetRestart(ksp, 100));
      PetscCall(
          KSPSetTolerances(ksp, options.tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCSHELL));
      PetscCall(KSPSetResidualHistory(ksp, nullptr, PETSC_DECIDE, PETSC_TRUE));
      if (options.monitor) PetscCall(KSPMonitorSet(ksp, monitor, this, nullptr));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(prefer_true_residuals(ksp));
      return success;
    });
  }
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  ~System() {
    PetscBool ended = PETSC_FALSE;
    PetscFinalized(&ended);
    if (!ended) KSPDestroy(&ksp);
  }

  bool has_shell_pc() const {
    PC pc = nullptr;
    PetscBool is_shell = PETSC_FALSE;
    petsc_calls([&] {
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCSHELL, &is_shell));
      return success;
    });
    return is_shell;
  }

  void set_operator(const BoundaryOperator& op, int vectors, const ApproximateInverse* own) {
    shell = std::make_unique<ShellMatrix>(op, vectors, options.host_vectors);
    n_vectors = vectors;
    inverse = own;
    petsc_calls([&] {
      PC pc = nullptr;
      PetscCall(KSPSetOperators(ksp, shell->mat(), shell->mat()));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCShellSetContext(pc, this));
      PetscCall(PCShellSetName(pc, inverse->name().c_str()));
      PetscCall(PCShellSetApply(pc, precondition));
      PetscCall(KSPSetUp(ksp));
      return success;
    });
  }

  /// With PETSc's preconditioners, on the diagonal blocks.
  void set_operator(const BoundaryOperator& op, Mat leaf_blocks) {
    shell = std::make_unique<ShellMatrix>(op, 1, options.host_vectors);
    n_vectors = 1;
    petsc_calls([&] {
      PetscCall(KSPSetOperators(ksp, shell->mat(), leaf_blocks));
      PetscCall(KSPSetUp(ksp));
      return success;
    });
  }

  static PetscErrorCode precondition(PC pc, Vec x, Vec y) {
    System* self = nullptr;
    PetscFunctionBeginUser;
    PetscCall(PCShellGetContext(pc, &self));
    PetscCall(multiply(*self->inverse, x, y, {.vectors = self->n_vectors}, self->exception));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode monitor(KSP ksp, PetscInt iteration, PetscReal residual, void* self) {
    PetscReal start = 0;
    PetscFunctionBeginUser;
    const auto& system = *static_cast<const System*>(self);
    Vec b = nullptr;
    PetscCall(KSPGetRhs(ksp, &b));
    PetscCall(VecNorm(b, NORM_2, &start));
    PetscCallCXX(system.options.monitor(static_cast<int>(iteration), residual / start));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void rethrow() {
    shell->rethrow();
    if (exception) std::rethrow_exception(std::exchange(exception, nullptr));
  }

  SolverOptions options;
  KSP ksp = nullptr;
  std::unique_ptr<ShellMatrix> shell;
  int n_vectors = 1;
  const ApproximateInverse* inverse = nullptr;
  std::exception_ptr exception;
};

double tolerance_of(KSP ksp) {
  PetscReal rtol = 0;
  KSPGetTolerances(ksp, &rtol, nullptr, nullptr, nullptr);
  return rtol;
}

/// Whether the system's vectors are in the GPU's memory.
bool is_on_gpu(const System& system) {
  VecType type = nullptr;
  MatGetVecType(system.shell->mat(), &type);
  return std::string(type) != VECSTANDARD;
}

bool is_lack_of_memory(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const ResourceError&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// ‖b − Ax‖/‖b‖ of one right-hand side from vectors in the GPU's memory, where they stay: by the
/// accurate product or, where memory does not suffice for that, by the operator as it is.
PetscErrorCode find_true_residual(const System& system, Vec b, Vec x, double norm_b,
                                  SolveReport& report) {
  const BoundaryOperator& op = system.shell->boundary_operator();
  OwnedVec residual;
  std::exception_ptr kept;
  PetscReal norm = 0;
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &residual.vec));
  report.accurate_residual =
      !multiply(op, x, residual.vec, {.tolerance = op.accurate_tolerance()}, kept);
  if (!report.accurate_residual) {
    if (!is_lack_of_memory(kept)) PetscCallCXX(std::rethrow_exception(kept));
    PetscCall(multiply(op, x, residual.vec, {}, kept));
  }
  PetscCall(VecAXPY(residual.vec, -1, b));
  PetscCall(VecNorm(residual.vec, NORM_2, &norm));
  report.true_residual = norm / norm_b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Solves the stacked system. Right-hand sides of norm 1 each have a residual below the tolerance
/// if that of all n together is below tolerance/√n times their norm. Of one right-hand side on the
/// GPU the true residual is found, too.
SolveReport run(System& system, std::span<const double> b, std::span<double> x) {
  SolveReport report;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  const double tolerance = tolerance_of(system.ksp), norm_b = norm_of(b);
  const auto set_tolerance = [&](double rtol) {
    return KSPSetTolerances(system.ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT);
  };
  try {
    petsc_calls([&] {
      OwnedVec b_vec, x_vec;
      PetscInt iterations = 0, n_history = 0;
      const PetscReal* history = nullptr;
      PetscCall(make_vec(system.shell->mat(), b, &b_vec.vec));
      PetscCall(make_vec(system.shell->mat(), x, &x_vec.vec));
      if (system.n_vectors > 1) PetscCall(set_tolerance(tolerance / std::sqrt(system.n_vectors)));
      PetscCall(KSPSolve(system.ksp, b_vec.vec, x_vec.vec));
      PetscCall(fetch(x_vec.vec, x));
      if (system.n_vectors == 1 && is_on_gpu(system))
        PetscCall(find_true_residual(system, b_vec.vec, x_vec.vec, norm_b, report));
      if (system.shell->boundary_operator().processor() == Processor::gpu)
        finish_petsc_before_gpu_memory();
      if (system.n_vectors > 1) PetscCall(set_tolerance(tolerance));
      PetscCall(KSPGetConvergedReason(system.ksp, &reason));
      PetscCall(KSPGetIterationNumber(system.ksp, &iterations));
      PetscCall(KSPGetResidualHistory(system.ksp, &history, &n_history));
      report.iterations = static_cast<int>(iterations);
      report.reason = KSPConvergedReasons[reason];
      for (PetscInt k = 0; k < n_history; ++k) report.history.push_back(history[k] / norm_b);
      return success;
    });
  } catch (const Error&) {
    system.rethrow();
    throw;
  }
  report.converged = reason > 0;
  if (!report.history.empty()) report.relative_residual = report.history.back();
  return report;
}

/// y = A x for true residuals, by the accurate product or, where memory does not suffice for that,
/// by the operator as it is: what is solved shall not be lost. Returns whether it is the former.
bool multiply_afresh(const BoundaryOperator& op, std::span<const double> x, std::span<double> y,
                     int n_vectors) {
  try {
    op.apply(x.data(), y.data(), {.vectors = n_vectors, .tolerance = op.accurate_tolerance()});
    return true;
  } catch (const ResourceError&) {
    op.apply(x.data(), y.data(), {.vectors = n_vectors});
    return false;
  }
}

/// True residuals of those right-hand sides, from vectors in host memory: of all at once, as what
/// an accurate product needs is made for each.
void find_true_residuals(const BoundaryOperator& op, std::span<const double> b,
                         std::span<const double> x, std::span<const double> norms,
                         std::span<const int> nonzero, std::span<SolveReport> reports) {
  const std::size_t n = op.size();
  LargeVector<double> residual(b.size());
  const bool accurate = multiply_afresh(op, x, residual, static_cast<int>(norms.size()));
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < b.size(); ++i) residual[i] -= b[i];
  for (const int v : nonzero) {
    reports[v].true_residual = norm_of(std::span(residual).subspan(v * n, n)) / norms[v];
    reports[v].accurate_residual = accurate;
  }
}

}  // namespace

struct LinearSolver::Impl {
  explicit Impl(const SolverOptions& solver_options) : options(solver_options) {
    systems.try_emplace(1, options);
  }
  ~Impl() {
    PetscBool ended = PETSC_FALSE;
    PetscFinalized(&ended);
    if (!ended) MatDestroy(&leaf_blocks);
  }

  System& single() { return systems.at(1); }

  /// The system for that many right-hand sides.
  System& system_for(int n_vectors) {
    const auto [entry, is_new] = systems.try_emplace(n_vectors, options);
    if (is_new) entry->second.set_operator(*op, n_vectors, inverse.get());
    return entry->second;
  }

  SolverOptions options;
  const BoundaryOperator* op = nullptr;
  std::unique_ptr<ApproximateInverse> inverse;  ///< null with PETSc's preconditioners
  Mat leaf_blocks = nullptr;
  std::map<int, System> systems;  ///< by right-hand sides
};

LinearSolver::LinearSolver(const SolverOptions& options) {
  FMBEM_REQUIRE(options.tolerance >= 1e-13 && options.tolerance <= 0.5,
                "the solver's tolerance must be between 1e-13 and 0.5, not " << options.tolerance);
  require_one_rank(*options.ranks, "a solve");
  start_petsc();
  impl_ = std::make_unique<Impl>(options);
}

LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

void LinearSolver::set_operator(const BoundaryOperator& op,
                                std::span<const std::int64_t> leaf_begin) {
  if (std::exchange(impl_->op, nullptr)) {
    // A KSP keeps its work vectors, in their size and place, and the type of its preconditioner.
    impl_->systems.clear();
    impl_->inverse.reset();
    impl_->systems.try_emplace(1, impl_->options);
  }
  System& single = impl_->single();
  auto inverse = single.has_shell_pc() ? op.approximate_inverse() : nullptr;
  if (inverse) {
    single.set_operator(op, 1, inverse.get());
    impl_->inverse = std::move(inverse);
    impl_->op = &op;
    return;
  }
  if (single.has_shell_pc()) {
    petsc_calls([&] {
      PC pc = nullptr;
      PetscCall(KSPGetPC(single.ksp, &pc));
      PetscCall(PCSetType(pc, PCVPBJACOBI));
      return success;
    });
  }
  Mat leaf_blocks = make_leaf_blocks(op, leaf_begin);
  MatDestroy(&impl_->leaf_blocks);
  impl_->leaf_blocks = leaf_blocks;
  single.set_operator(op, leaf_blocks);
  impl_->inverse.reset();
  impl_->op = &op;
}

SolveReport LinearSolver::solve(std::span<const double> b, std::span<double> x) {
  return solve(b, x, 1).front();
}

std::vector<SolveReport> LinearSolver::solve(std::span<const double> b, std::span<double> x,
                                             int n_vectors) {
  FMBEM_REQUIRE(impl_->op, "the solver has no operator: call set_operator() first");
  FMBEM_REQUIRE(n_vectors >= 1, "there must be a right-hand side, not " << n_vectors);
  const std::size_t n = impl_->op->size(), numbers = n * n_vectors;
  FMBEM_REQUIRE(b.size() == numbers && x.size() == numbers,
                "the operator has " << n << " unknowns, b " << b.size() / n_vectors << " and x "
                                    << x.size() / n_vectors);
  std::vector<SolveReport> reports;
  std::vector<double> norms;
  std::vector<int> nonzero;
  for (int v = 0; v < n_vectors; ++v) {
    norms.push_back(norm_of(b.subspan(v * n, n)));
    FMBEM_REQUIRE(std::isfinite(norms.back()), "the right-hand side is not finite");
    reports.push_back({true, 0, "CONVERGED_ATOL", 0, 0, true, {0.0}});
    if (norms.back() > 0) nonzero.push_back(v);
  }
  std::fill(x.begin(), x.end(), 0.0);

  const std::size_t together = impl_->inverse ? most_together : 1;
  for (std::size_t first = 0; first < nonzero.size(); first += together) {
    const std::span<const int> batch =
        std::span(nonzero).subspan(first, std::min(together, nonzero.size() - first));
    const auto width = static_cast<int>(batch.size());
    System& system = width == 1 ? impl_->single() : impl_->system_for(width);
    if (width == 1) {
      const std::size_t at = batch.front() * n;
      reports[batch.front()] = run(system, b.subspan(at, n), x.subspan(at, n));
      continue;
    }
    std::vector<double> scaled_b(n * width), solution(n * width);
    const auto scale = [&](int k) { return norms[batch[k]]; };
    for (int k = 0; k < width; ++k)
      for (std::size_t i = 0; i < n; ++i) scaled_b[k * n + i] = b[batch[k] * n + i] / scale(k);
    const SolveReport report = run(system, scaled_b, solution);
    for (int k = 0; k < width; ++k) {
      reports[batch[k]] = report;
      for (std::size_t i = 0; i < n; ++i) x[batch[k] * n + i] = scale(k) * solution[k * n + i];
    }
  }
  if (nonzero.empty()) return reports;

  if (n_vectors > 1 || !is_on_gpu(impl_->single()))
    find_true_residuals(*impl_->op, b, x, norms, nonzero, reports);
  for (const int v : nonzero)
    reports[v].converged = reports[v].converged && reports[v].true_residual <= 10 * tolerance();
  return reports;
}

std::string LinearSolver::ksp_type() const {
  KSPType type = nullptr;
  KSPGetType(impl_->single().ksp, &type);
  return type ? type : "";
}

std::string LinearSolver::pc_type() const {
  if (impl_->inverse) return impl_->inverse->name();
  PC pc = nullptr;
  PCType type = nullptr;
  KSPGetPC(impl_->single().ksp, &pc);
  PCGetType(pc, &type);
  return type ? type : "";
}

double LinearSolver::tolerance() const { return tolerance_of(impl_->single().ksp); }

double LinearSolver::median_product_seconds() const {
  std::vector<double> seconds;
  for (const auto& [width, system] : impl_->systems)
    if (system.shell)
      seconds.insert(seconds.end(), system.shell->product_seconds().begin(),
                     system.shell->product_seconds().end());
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + seconds.size() / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

std::int64_t LinearSolver::preconditioner_bytes() const {
  return impl_->inverse ? impl_->inverse->memory_bytes() : 0;
}

}  // namespace fmbem
