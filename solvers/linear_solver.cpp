#include "fmbem/solvers/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/krylov_system.hpp"
#include "fmbem/solvers/norm.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/refinement.hpp"

namespace fmbem {
namespace {

/// The true residual of the problem that was solved last, if its vectors are on the GPU.
void find_residual_on_gpu(const BoundaryOperator& op, KrylovSystem& system,
                          SolvedProblem& problem) {
  if (!system.is_on_gpu()) return;
  try {
    problem.report->true_residual = system.find_residual(op.accurate_tolerance());
    problem.known_to = op.accurate_tolerance();
  } catch (const ResourceError&) {
    // No error here: the refinement tries again, and makes do with less memory.
  }
}

}  // namespace

struct LinearSolver::Impl {
  explicit Impl(const SolverOptions& solver_options) : options(solver_options) { add_system(); }
  ~Impl() {
    PetscBool ended = PETSC_FALSE;
    PetscFinalized(&ended);
    if (!ended) MatDestroy(&leaf_blocks);
  }

  KrylovSystem& first() const { return *systems.front(); }

  void add_system() {
    owned.push_back(std::make_unique<KrylovSystem>(options));
    systems.push_back(owned.back().get());
  }

  std::vector<SolveReport> solve(std::span<const KrylovSystem::Problem> problems) {
    const std::size_t together =
        std::min<std::size_t>(inverse ? most_together : 1, problems.size());
    while (systems.size() < together) {
      add_system();
      systems.back()->set_operator(op, inverse.get());
    }
    std::vector<SolveReport> reports;
    for (std::size_t k = 0; k < problems.size(); k += together) {
      auto some = KrylovSystem::solve(systems,
                                      problems.subspan(k, std::min(together, problems.size() - k)));
      std::move(some.begin(), some.end(), std::back_inserter(reports));
    }
    return reports;
  }

  SolverOptions options;
  std::shared_ptr<const BoundaryOperator> op;
  std::unique_ptr<ApproximateInverse> inverse;  ///< null with PETSc's preconditioners
  Mat leaf_blocks = nullptr;
  std::vector<std::unique_ptr<KrylovSystem>> owned;
  std::vector<KrylovSystem*> systems;  ///< the same
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

void LinearSolver::set_operator(std::shared_ptr<const BoundaryOperator> op,
                                std::span<const std::int64_t> leaf_begin) {
  if (std::exchange(impl_->op, nullptr)) {
    // A KSP keeps its work vectors, with their size and place, and the type of its preconditioner.
    impl_->systems.clear();
    impl_->owned.clear();
    impl_->inverse.reset();
    impl_->add_system();
  }
  KrylovSystem& system = impl_->first();
  auto inverse = system.has_shell_pc() ? op->approximate_inverse() : nullptr;
  if (inverse) {
    system.set_operator(op, inverse.get());
    impl_->inverse = std::move(inverse);
    impl_->op = std::move(op);
    return;
  }
  Mat leaf_blocks = make_leaf_blocks(*op, leaf_begin);
  MatDestroy(&impl_->leaf_blocks);
  impl_->leaf_blocks = leaf_blocks;
  system.set_operator(op, leaf_blocks);
  impl_->inverse.reset();
  impl_->op = std::move(op);
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
  std::vector<SolveReport> reports(n_vectors, {true, 0, "CONVERGED_ATOL", 0, 0, true, {0.0}});
  std::vector<SolvedProblem> solved;
  std::vector<KrylovSystem::Problem> problems;
  for (int v = 0; v < n_vectors; ++v) {
    const auto own_b = b.subspan(v * n, n);
    const auto own_x = x.subspan(v * n, n);
    const double norm_b = norm_of(own_b);
    FMBEM_REQUIRE(std::isfinite(norm_b), "the right-hand side is not finite");
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) own_x[i] = 0;
    if (norm_b == 0) continue;
    problems.push_back({own_b, own_x, tolerance(), 0});
    solved.push_back({own_b, own_x, norm_b, &reports[v]});
  }
  if (solved.empty()) return reports;
  std::vector<SolveReport> found = impl_->solve(problems);
  for (std::size_t k = 0; k < found.size(); ++k) *solved[k].report = std::move(found[k]);

  if (solved.size() == 1) find_residual_on_gpu(*impl_->op, impl_->first(), solved.front());
  Refinement(*impl_->op, tolerance(), [this](auto some) {
    return impl_->solve(some);
  }).refine(solved);
  for (const SolvedProblem& problem : solved) {
    SolveReport& report = *problem.report;
    const double enough = report.accurate_residual ? tolerance() : 10 * tolerance();
    report.converged = report.converged && report.true_residual <= enough;
  }
  return reports;
}

KrylovChoice LinearSolver::krylov() const { return impl_->first().choice(); }

std::string LinearSolver::pc_type() const {
  if (impl_->inverse) return impl_->inverse->name();
  PC pc = nullptr;
  PCType type = nullptr;
  KSPGetPC(impl_->first().ksp(), &pc);
  PCGetType(pc, &type);
  return type ? type : "";
}

double LinearSolver::tolerance() const { return impl_->first().tolerance(); }

double LinearSolver::median_product_seconds() const {
  std::vector<double> seconds;
  for (const KrylovSystem* system : impl_->systems) {
    const std::vector<double>& of_system = system->product_seconds();
    seconds.insert(seconds.end(), of_system.begin(), of_system.end());
  }
  if (seconds.empty()) return 0;
  const auto middle = seconds.begin() + seconds.size() / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

std::int64_t LinearSolver::preconditioner_bytes() const {
  return impl_->inverse ? impl_->inverse->memory_bytes() : 0;
}

}  // namespace fmbem
