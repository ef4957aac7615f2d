#include "fmbem/solvers/linear_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <utility>

#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/tasks.hpp"
#include "fmbem/solvers/krylov_system.hpp"
#include "fmbem/solvers/norm.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "fmbem/solvers/refinement.hpp"

namespace fmbem {
namespace {

bool overlap(std::span<const double> a, std::span<const double> b) {
  const std::less<const double*> before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

/// From so many right-hand sides on loose products save more than their far fields take to make.
constexpr std::size_t enough_for_loose = 4;

/// What errors of loose products may leave is about the operator's condition times this part of
/// what they are solved to.
constexpr double loose_part = 0.1;

/// What a right-hand side of this norm is multiplied by for PETSc: 1 of all but the least and the
/// largest.
double scale_for(double norm) {
  if (norm >= least_norm && norm <= largest_norm) return 1;
  return std::ldexp(1.0, -std::max(std::ilogb(norm), -1000));
}

std::vector<double> scaled(std::span<const double> values, double scale) {
  std::vector<double> result(values.begin(), values.end());
  for (double& value : result) value *= scale;
  return result;
}

/// Whether residuals are known in each step, and what PETSc's options leave of them is to be solved
/// to a tolerance, not by so many steps.
bool can_relax(const KrylovChoice& choice) {
  PetscBool steps_given = PETSC_FALSE, test_given = PETSC_FALSE;
  petsc_calls([&] {
    PetscCall(PetscOptionsHasName(nullptr, nullptr, "-ksp_max_it", &steps_given));
    return PetscOptionsHasName(nullptr, nullptr, "-ksp_convergence_test", &test_given);
  });
  const bool knows = choice.type == KSPGMRES || choice.type == KSPFGMRES || choice.type == KSPGCR;
  return knows && choice.norm == "unpreconditioned" && !steps_given && !test_given;
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
    const std::size_t together = std::min(in_step(), problems.size());
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

  /// A right-hand side, in host memory.
  struct Task {
    std::span<const double> b;
    std::span<double> x;
    double norm_b;
    SolveReport* report;
  };

  /// Solves are to this tolerance at first, with products that are relaxed from another.
  struct Start {
    double tolerance, relax_from;
  };
  /// With loose products two solves, for b and for what is left of it, have the same to gain.
  Start start_of(std::size_t problems) const {
    const double tolerance = first().tolerance(), cheap = op->cheap_tolerance();
    if (!options.loose_products || options.relax_from > 0 || cheap == 0 ||
        problems < enough_for_loose || !can_relax(first().choice()))
      return {tolerance, options.relax_from};
    const double loose = std::max(cheap, loose_part * std::sqrt(tolerance));
    return {std::max(tolerance, loose / loose_part), loose};
  }

  /// Of right-hand sides with so many vectors each: as many, in steps of `least`, as take a part of
  /// the GPU's memory, if vectors are there.
  std::size_t that_fit(std::size_t vectors, std::size_t least, std::size_t most) const {
    constexpr std::size_t part_of_memory = 16;
    if (op->processor() != Processor::gpu || options.host_vectors) return most;
    const std::size_t bytes = cuda_devices().front().memory_bytes / part_of_memory,
                      room = bytes / (vectors * op->size() * sizeof(double));
    return std::clamp<std::size_t>(room - room % least, least, most);
  }

  /// Right-hand sides that share products, with a Krylov space each.
  std::size_t in_step() const {
    constexpr std::size_t of_a_space = 30;
    if (!inverse) return 1;
    if (op->processor() != Processor::gpu) return most_together;
    return that_fit(of_a_space, most_together, most_together_on_gpu);
  }

  /// Right-hand sides whose true residuals are found by one product, for which far fields are made.
  /// Of each there are b, x, a residual, a correction, two vectors of a product and two of what its
  /// errors are relative to.
  std::size_t measured_together() const {
    const std::size_t most = op->processor() == Processor::gpu ? 128 : 32;
    return that_fit(8, std::max<std::size_t>(in_step(), most_together), most);
  }

  /// Solves and refines.
  void solve_to_the_end(std::span<const Task> tasks, const Start& start) {
    const double tolerance = first().tolerance();
    std::vector<OwnedVec> vectors;
    std::vector<KrylovSystem::Problem> problems;
    std::vector<SolvedProblem> solved;
    for (const Task& task : tasks) {
      vectors.push_back(first().vector_of(task.b));
      Vec b = vectors.back().vec;
      vectors.push_back(first().vector_for(task.x));
      Vec x = vectors.back().vec;
      problems.push_back({b, x, start.tolerance, {start.relax_from, start.relax_from > 0}});
      solved.push_back({b, x, task.norm_b, task.report});
    }
    std::vector<SolveReport> found = solve(problems);
    for (std::size_t k = 0; k < found.size(); ++k) *tasks[k].report = std::move(found[k]);
    Refinement(
        *op, tolerance, [this](auto some) { return solve(some); }, start.relax_from)
        .refine(solved);
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      KrylovSystem::fetch(vectors[2 * k + 1], tasks[k].x);
      SolveReport& report = *tasks[k].report;
      const double enough = report.accurate_residual ? tolerance : 10 * tolerance;
      report.converged = report.converged && report.true_residual <= enough;
    }
  }

  SolverOptions options;
  std::shared_ptr<const BoundaryOperator> op;
  std::unique_ptr<ApproximateInverse> inverse;  ///< null with PETSc's preconditioners
  Mat leaf_blocks = nullptr;
  std::vector<std::unique_ptr<KrylovSystem>> owned;
  std::vector<KrylovSystem*> systems;  ///< the same
};

LinearSolver::LinearSolver(const SolverOptions& options) {
  FMBEM_REQUIRE(options.tolerance >= least_solver_tolerance && options.tolerance <= 0.5,
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
  FMBEM_REQUIRE(n_vectors >= 1, "there must be a right-hand side, not " << n_vectors);
  const std::size_t n = b.size() / n_vectors, n_x = x.size() / n_vectors;
  FMBEM_REQUIRE(
      b.size() == n * n_vectors && x.size() == n_x * n_vectors,
      b.size() << " and " << x.size() << " numbers are not those of " << n_vectors << " vectors");
  std::vector<std::span<const double>> all_b;
  std::vector<std::span<double>> all_x;
  for (int v = 0; v < n_vectors; ++v) {
    all_b.push_back(b.subspan(v * n, n));
    all_x.push_back(x.subspan(v * n_x, n_x));
  }
  return solve(all_b, all_x);
}

std::vector<SolveReport> LinearSolver::solve(std::span<const std::span<const double>> b,
                                             std::span<const std::span<double>> x) {
  FMBEM_REQUIRE(impl_->op, "the solver has no operator: call set_operator() first");
  FMBEM_REQUIRE(b.size() == x.size(),
                "there are " << b.size() << " right-hand sides for " << x.size() << " solutions");
  const std::size_t n = impl_->op->size();
  std::vector<SolveReport> reports(b.size(), {true, 0, "CONVERGED_ATOL", 0, 0, true, {0.0}});
  std::vector<double> norms(b.size());
  for_tasks(static_cast<std::int64_t>(b.size()), [&](std::int64_t v) { norms[v] = norm_of(b[v]); });
  std::vector<Impl::Task> tasks;
  std::vector<double> scales(b.size(), 1);
  std::vector<std::vector<double>> scaled_b(b.size());
  const bool may_scale = impl_->first().absolute_tolerance() == 0;
  for (std::size_t v = 0; v < b.size(); ++v) {
    FMBEM_REQUIRE(b[v].size() == n && x[v].size() == n, "the operator has "
                                                            << n << " unknowns, b " << b[v].size()
                                                            << " and x " << x[v].size());
    FMBEM_REQUIRE(std::isfinite(norms[v]), "the right-hand side is not finite");
    for (const std::span<const double> other : b)
      FMBEM_REQUIRE(!overlap(other, x[v]),
                    "a solution lies in the memory of a right-hand side, "
                    "which it would overwrite: give it memory of its own");
    if (norms[v] > 0) {
      if (may_scale) scales[v] = scale_for(norms[v]);
      if (scales[v] != 1) scaled_b[v] = scaled(b[v], scales[v]);
      tasks.push_back(
          {scales[v] == 1 ? b[v] : scaled_b[v], x[v], norms[v] * scales[v], &reports[v]});
      continue;
    }
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) x[v][i] = 0;
  }
  const Impl::Start start = impl_->start_of(tasks.size());
  const std::size_t together = impl_->measured_together();
  for (std::size_t k = 0; k < tasks.size(); k += together)
    impl_->solve_to_the_end(std::span(tasks).subspan(k, std::min(together, tasks.size() - k)),
                            start);
  for (std::size_t v = 0; v < reports.size(); ++v) {
    reports[v].rhs_norm = norms[v];
    if (scales[v] == 1) continue;
    for (double& value : x[v]) value /= scales[v];
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
