#include "fmbem/solvers/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/solvers/krylov_system.hpp"
#include "fmbem/solvers/petsc_session.hpp"

namespace fmbem {
namespace {

/// Right-hand sides that are solved for together.
constexpr int most_together = 4;

/// True residuals of those right-hand sides, from vectors in host memory: of all at once, as what
/// an accurate product needs is made for each.
void find_true_residuals(const BoundaryOperator& op, std::span<const double> b,
                         std::span<const double> x, std::span<const double> norms,
                         std::span<const int> nonzero, std::span<SolveReport> reports) {
  const std::size_t n = op.size();
  LargeVector<double> residual(b.size());
  const bool accurate = multiply_afresh(
      op, static_cast<int>(norms.size()),
      [&](const Product& product) { op.apply(x.data(), residual.data(), product); });
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

  KrylovSystem& single() { return systems.at(1); }

  /// The system for that many right-hand sides.
  KrylovSystem& system_for(int n_vectors) {
    const auto [entry, is_new] = systems.try_emplace(n_vectors, options);
    if (is_new) entry->second.set_operator(op, n_vectors, inverse.get());
    return entry->second;
  }

  SolverOptions options;
  std::shared_ptr<const BoundaryOperator> op;
  std::unique_ptr<ApproximateInverse> inverse;  ///< null with PETSc's preconditioners
  Mat leaf_blocks = nullptr;
  std::map<int, KrylovSystem> systems;  ///< by right-hand sides
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
    // A KSP keeps its work vectors, in their size and place, and the type of its preconditioner.
    impl_->systems.clear();
    impl_->inverse.reset();
    impl_->systems.try_emplace(1, impl_->options);
  }
  KrylovSystem& single = impl_->single();
  auto inverse = single.has_shell_pc() ? op->approximate_inverse() : nullptr;
  if (inverse) {
    single.set_operator(op, 1, inverse.get());
    impl_->inverse = std::move(inverse);
    impl_->op = std::move(op);
    return;
  }
  Mat leaf_blocks = make_leaf_blocks(*op, leaf_begin);
  MatDestroy(&impl_->leaf_blocks);
  impl_->leaf_blocks = leaf_blocks;
  single.set_operator(op, leaf_blocks);
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
    KrylovSystem& system = width == 1 ? impl_->single() : impl_->system_for(width);
    if (width == 1) {
      const std::size_t at = batch.front() * n;
      reports[batch.front()] = system.solve(b.subspan(at, n), x.subspan(at, n));
      continue;
    }
    std::vector<double> scaled_b(n * width), solution(n * width);
    const auto scale = [&](int k) { return norms[batch[k]]; };
    for (int k = 0; k < width; ++k)
      for (std::size_t i = 0; i < n; ++i) scaled_b[k * n + i] = b[batch[k] * n + i] / scale(k);
    const SolveReport report = system.solve(scaled_b, solution);
    for (int k = 0; k < width; ++k) {
      reports[batch[k]] = report;
      for (std::size_t i = 0; i < n; ++i) x[batch[k] * n + i] = scale(k) * solution[k * n + i];
    }
  }
  if (nonzero.empty()) return reports;

  if (n_vectors > 1 || !impl_->single().is_on_gpu())
    find_true_residuals(*impl_->op, b, x, norms, nonzero, reports);
  for (const int v : nonzero)
    reports[v].converged = reports[v].converged && reports[v].true_residual <= 10 * tolerance();
  return reports;
}

std::string LinearSolver::ksp_type() const {
  KSPType type = nullptr;
  KSPGetType(impl_->single().ksp(), &type);
  return type ? type : "";
}

std::string LinearSolver::pc_type() const {
  if (impl_->inverse) return impl_->inverse->name();
  PC pc = nullptr;
  PCType type = nullptr;
  KSPGetPC(impl_->single().ksp(), &pc);
  PCGetType(pc, &type);
  return type ? type : "";
}

double LinearSolver::tolerance() const { return impl_->single().tolerance(); }

double LinearSolver::median_product_seconds() const {
  std::vector<double> seconds;
  for (const auto& [width, system] : impl_->systems) {
    const std::span<const double> of_system = system.product_seconds();
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
