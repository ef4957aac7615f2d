#include "fmbem/solvers/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/solvers/norm.hpp"

namespace fmbem {
namespace {

/// The part of the tolerance that errors of products may take.
constexpr double product_part = 1.0 / 3;
constexpr int most_steps = 10;
/// A step that leaves more than this of the residual was of no use.
constexpr double progress = 0.5;
/// A margin, as x, and with it what it asks of products, changes a little from step to step.
constexpr double slack = 1.01;

}  // namespace

double Refinement::condition(const SolvedProblem& problem) const {
  return op_.norm() * norm_of(problem.x) / problem.norm_b;
}

double Refinement::cancellation(Open& open) const {
  if (open.cancellation > 0) return open.cancellation;
  const SolvedProblem& problem = *open.problem;
  open.cancellation = condition(problem);
  const bool matters = product_part * tolerance_ < open.cancellation * op_.accurate_tolerance();
  if (!matters || !op_.has_positive_entries()) return open.cancellation;
  const std::size_t n = op_.size();
  LargeVector<double> sizes(n), sums(n);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) sizes[i] = std::abs(problem.x[i]);
  op_.apply(sizes.data(), sums.data());
  open.cancellation = std::min(open.cancellation, norm_of(sums) / problem.norm_b);
  return open.cancellation;
}

double Refinement::product_tolerance(Open& open) const {
  const double accurate = op_.accurate_tolerance(), of_x = cancellation(open);
  if (accurate == 0 || of_x == 0) return accurate;
  return std::clamp(product_part * tolerance_ / of_x, op_.tightest_tolerance(), accurate);
}

/// Finds residuals by one product.
void Refinement::measure(std::span<Open*> open) {
  const std::size_t n = op_.size();
  double tolerance = std::numeric_limits<double>::infinity();
  LargeVector<double> x(n * open.size()), ax(n * open.size());
  for (std::size_t k = 0; k < open.size(); ++k) {
    tolerance = std::min(tolerance, product_tolerance(*open[k]));
    copy_numbers(open[k]->problem->x, std::span(x).subspan(k * n, n));
  }
  Product product{.vectors = static_cast<int>(open.size()), .tolerance = tolerance};
  bool accurate = true;
  try {
    op_.apply(x.data(), ax.data(), product);
  } catch (const ResourceError&) {
    accurate = false;
    product.tolerance = 0;
    op_.apply(x.data(), ax.data(), product);
  }
  for (std::size_t k = 0; k < open.size(); ++k) {
    SolvedProblem& problem = *open[k]->problem;
    std::vector<double>& residual = open[k]->residual;
    residual.resize(n);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) residual[i] = problem.b[i] - ax[k * n + i];
    problem.known_to = accurate ? tolerance : 0;
    problem.report->accurate_residual = accurate;
    problem.report->true_residual = norm_of(residual) / problem.norm_b;
    if (!problem.report->refinements.empty()) {
      problem.report->refinements.back().product_tolerance = product.tolerance;
      problem.report->refinements.back().true_residual = problem.report->true_residual;
    }
  }
}

/// Whether nothing can be gained: the residual is below the tolerance or cannot get there, or PETSc
/// was told not to look at it.
bool Refinement::is_done(Open& open) const {
  SolveReport& report = *open.problem->report;
  if (!report.converged || !report.accurate_residual || report.reason == "CONVERGED_ITS")
    return true;
  const double attainable = op_.tightest_tolerance() * cancellation(open);
  if (attainable > tolerance_) report.attainable_residual = attainable;
  return attainable > tolerance_ || report.true_residual <= tolerance_;
}

/// Solves A d = b − A x for d, to what is missing, and adds d to x.
void Refinement::correct(std::span<Open*> open) {
  const std::size_t n = op_.size();
  std::vector<double> d(n * open.size());
  std::vector<KrylovSystem::Problem> problems;
  for (std::size_t k = 0; k < open.size(); ++k) {
    const double missing = tolerance_ / open[k]->problem->report->true_residual;
    const double tight = 0.1 / std::max(1.0, cancellation(*open[k]));
    problems.push_back({open[k]->residual, std::span(d).subspan(k * n, n),
                        std::clamp(0.3 * missing, 1e-10, 0.3),
                        open[k]->own_products ? 0 : std::max(tight, op_.tightest_tolerance())});
  }
  const std::vector<SolveReport> solved = solve_(problems);
  for (std::size_t k = 0; k < open.size(); ++k) {
    SolvedProblem& problem = *open[k]->problem;
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) problem.x[i] += d[k * n + i];
    open[k]->cancellation = 0;
    problem.known_to = std::numeric_limits<double>::infinity();
    problem.report->refinements.push_back({.iterations = solved[k].iterations});
  }
}

void Refinement::refine(std::span<SolvedProblem> problems) {
  std::vector<Open> all;
  for (SolvedProblem& problem : problems) all.push_back({&problem});
  std::vector<Open*> open;
  for (Open& each : all) open.push_back(&each);
  for (int step = 0; !open.empty() && step <= most_steps; ++step) {
    std::vector<Open*> unknown;
    std::copy_if(open.begin(), open.end(), std::back_inserter(unknown), [&](Open* each) {
      return each->problem->known_to > slack * product_tolerance(*each) ||
             (each->residual.empty() && !is_done(*each));
    });
    if (!unknown.empty()) measure(unknown);
    std::erase_if(open, [&](Open* each) { return is_done(*each) || has_stalled(*each); });
    if (!open.empty() && step < most_steps) correct(open);
  }
  for (const SolvedProblem& problem : problems) problem.report->condition = condition(problem);
}

/// Whether the last step was of no use although its products were tight. If they were the
/// operator's own, the next step has tighter ones.
bool Refinement::has_stalled(Open& open) {
  const double residual = open.problem->report->true_residual;
  const bool worked = residual <= progress * open.last_residual;
  open.last_residual = residual;
  if (worked) return false;
  return !std::exchange(open.own_products, false);
}

}  // namespace fmbem
