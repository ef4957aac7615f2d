#include "fmbem/solvers/refinement.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// The part of the tolerance that errors of products may take.
constexpr double product_part = 1.0 / 3;
constexpr int most_steps = 10;
/// A step that leaves more than this of the residual was of no use; one with loose products has to
/// be of more use than others.
constexpr double progress = 0.5, loose_progress = 0.1;
/// A margin, as x, and with it what it asks of products, changes a little from step to step, and as
/// products with corrections add errors of their own: to a residual known to some tolerance so much
/// of that each.
constexpr double slack = 1.35, part_of_correction = 0.3;
/// What products with x are to be accurate to is found anew if a correction may have changed it by
/// more than this.
constexpr double changed_by = 0.1;
/// Product::tolerance of products with |x|, of which the size is asked for, where there are loose
/// ones.
constexpr double of_sizes = 0.01;

double norm_of(Vec vec) {
  PetscReal norm = 0;
  petsc_calls([&] { return VecNorm(vec, NORM_2, &norm); });
  return norm;
}

OwnedVec like(Vec vec) {
  OwnedVec result;
  petsc_calls([&] { return VecDuplicate(vec, &result.vec); });
  return result;
}

void multiply_all(const LinearMap& map, std::span<const Vec> x, std::span<const Vec> y,
                  double tolerance) {
  std::exception_ptr thrown;
  StackedVecs room;
  petsc_calls([&] {
    const PetscErrorCode code = multiply_together(map, x, y, tolerance, room, thrown);
    if (thrown) std::rethrow_exception(thrown);
    return code;
  });
}

}  // namespace

double Refinement::size_at_most(Vec x, const SolvedProblem& problem) const {
  return op_.norm() * norm_of(x) / problem.norm_b;
}

void Refinement::find_cancellations(std::span<Open* const> open) const {
  std::vector<Open*> some;
  for (Open* each : open) {
    if (each->cancellation > 0) continue;
    each->cancellation = size_at_most(each->problem->x, *each->problem);
    const bool matters = product_part * tolerance_ < each->cancellation * loosest_tolerance();
    if (matters && op_.rows_of_v()) some.push_back(each);
  }
  if (some.empty()) return;
  try {
    find_sizes(some);
  } catch (const ResourceError&) {
    // The condition is a bound, too.
  }
}

void Refinement::find_sizes(std::span<Open* const> open) const {
  std::vector<OwnedVec> vectors;
  std::vector<Vec> sizes, sums;
  for (const Open* each : open) {
    for (std::vector<Vec>* to : {&sizes, &sums}) {
      vectors.push_back(like(each->problem->x));
      to->push_back(vectors.back().vec);
    }
    petsc_calls([&] {
      PetscCall(VecCopy(each->problem->x, sizes.back()));
      return VecAbs(sizes.back());
    });
  }
  multiply_all(*op_.rows_of_v(), sizes, sums, loose_ > 0 ? of_sizes : 0);
  for (std::size_t k = 0; k < open.size(); ++k) {
    // Errors of both are not correlated.
    const double rest = op_.rest_norm() * norm_of(open[k]->problem->x),
                 size = std::hypot(norm_of(sums[k]), rest) / open[k]->problem->norm_b;
    open[k]->cancellation = std::min(open[k]->cancellation, size);
  }
}

/// Of products for true residuals. These are to find out what the operator's own products, where
/// the solution came from these, have done; loose products leave far more.
double Refinement::loosest_tolerance() const {
  return loose_ > 0 ? op_.cheap_tolerance() : op_.accurate_tolerance();
}

double Refinement::product_tolerance(const Open& open) const {
  const double loosest = loosest_tolerance();
  if (loosest == 0 || open.cancellation == 0) return loosest;
  return std::clamp(product_part * tolerance_ / open.cancellation, op_.tightest_tolerance(),
                    loosest);
}

/// Finds residuals by one product.
void Refinement::measure(std::span<Open*> open) {
  double tolerance = unknown;
  std::vector<Vec> x, residual;
  for (Open* each : open) {
    tolerance = std::min(tolerance, product_tolerance(*each));
    if (!each->residual.vec) each->residual = like(each->problem->b);
    x.push_back(each->problem->x);
    residual.push_back(each->residual.vec);
  }
  bool accurate = true;
  try {
    multiply_all(op_, x, residual, tolerance);
  } catch (const ResourceError&) {
    accurate = false;
    multiply_all(op_, x, residual, 0);
  }
  for (Open* each : open) {
    petsc_calls([&] { return VecAYPX(each->residual.vec, -1, each->problem->b); });
    each->known_to = accurate ? tolerance : 0;
    each->problem->report->accurate_residual = accurate;
    tell(*each);
  }
}

/// Subtracts A d from residuals, of all whose d allows a product that is looser than the accurate
/// one. Those of the others are not known then.
void Refinement::measure_corrections(std::span<Open*> open) {
  double tolerance = unknown;
  std::vector<Open*> some;
  std::vector<OwnedVec> products;
  std::vector<Vec> d, ad;
  for (Open* each : open) {
    // ‖A‖‖d‖ times its tolerance is a part of the residual's error.
    const double size = size_at_most(each->correction.vec, *each->problem);
    const double own =
        size == 0 ? 0 : part_of_correction * each->known_to * each->cancellation / size;
    if (own <= std::max(each->known_to, op_.accurate_tolerance())) {
      each->known_to = unknown;
      continue;
    }
    tolerance = std::min(tolerance, own);
    some.push_back(each);
    d.push_back(each->correction.vec);
    products.push_back(like(each->residual.vec));
    ad.push_back(products.back().vec);
  }
  if (some.empty()) return;
  multiply_all(op_, d, ad, tolerance);
  for (std::size_t k = 0; k < some.size(); ++k) {
    petsc_calls([&] { return VecAXPY(some[k]->residual.vec, -1, ad[k]); });
    some[k]->known_to *= 1 + part_of_correction;
    tell(*some[k]);
  }
}

/// Puts the residual, which is known, into the report.
void Refinement::tell(const Open& open) {
  SolveReport& report = *open.problem->report;
  report.true_residual = norm_of(open.residual.vec) / open.problem->norm_b;
  if (report.refinements.empty()) return;
  report.refinements.back().product_tolerance = open.known_to;
  report.refinements.back().true_residual = report.true_residual;
}

/// Whether nothing can be gained: the residual is below the tolerance or cannot get there, or PETSc
/// was told not to look at it.
bool Refinement::is_done(const Open& open) const {
  SolveReport& report = *open.problem->report;
  if (!report.converged || !report.accurate_residual || report.reason == "CONVERGED_ITS")
    return true;
  const double attainable = op_.tightest_tolerance() * open.cancellation;
  if (attainable > tolerance_) report.attainable_residual = attainable;
  return attainable > tolerance_ || report.true_residual <= tolerance_;
}

KrylovSystem::Products Refinement::products_of(const Open& open) const {
  if (open.products == Products::loose) return {loose_, true};
  if (open.products == Products::own) return {};
  return {std::max(0.1 / std::max(1.0, open.cancellation), op_.tightest_tolerance())};
}

/// Solves A d = b − A x for d, to what is missing, and adds d to x.
void Refinement::correct(std::span<Open*> open) {
  std::vector<KrylovSystem::Problem> problems;
  for (Open* each : open) {
    const double missing = tolerance_ / each->problem->report->true_residual;
    if (!each->correction.vec) each->correction = like(each->problem->x);
    problems.push_back({each->residual.vec, each->correction.vec,
                        std::clamp(0.3 * missing, 1e-10, 0.3), products_of(*each)});
  }
  const std::vector<SolveReport> solved = solve_(problems);
  for (std::size_t k = 0; k < open.size(); ++k) {
    SolvedProblem& problem = *open[k]->problem;
    petsc_calls([&] { return VecAXPY(problem.x, 1, open[k]->correction.vec); });
    problem.report->refinements.push_back({.iterations = solved[k].iterations});
  }
  measure_corrections(open);
  for (Open* each : open)
    if (size_at_most(each->correction.vec, *each->problem) > changed_by * each->cancellation)
      each->cancellation = 0;
}

void Refinement::refine(std::span<SolvedProblem> problems) {
  const bool are_loose = loose_ > 0;
  std::vector<Open> all;
  for (SolvedProblem& problem : problems)
    all.push_back({&problem, are_loose ? Products::loose : Products::own, are_loose ? 1 : unknown});
  std::vector<Open*> open;
  for (Open& each : all) open.push_back(&each);
  for (int step = 0; !open.empty() && step <= most_steps; ++step) {
    find_cancellations(open);
    std::vector<Open*> to_measure;
    std::copy_if(open.begin(), open.end(), std::back_inserter(to_measure),
                 [&](Open* each) { return each->known_to > slack * product_tolerance(*each); });
    if (!to_measure.empty()) measure(to_measure);
    std::erase_if(open, [&](Open* each) { return is_done(*each) || has_stalled(*each); });
    if (!open.empty() && step < most_steps) correct(open);
  }
  for (const SolvedProblem& problem : problems)
    problem.report->condition = size_at_most(problem.x, problem);
}

/// Whether the last step was of no use although its products were tight. If they were not, the next
/// step has tighter ones.
bool Refinement::has_stalled(Open& open) {
  const double residual = open.problem->report->true_residual;
  const double enough = open.products == Products::loose ? loose_progress : progress;
  const bool worked = residual <= enough * open.last_residual;
  open.last_residual = residual;
  if (worked) return false;
  if (open.products == Products::tight) return true;
  open.products = open.products == Products::loose ? Products::own : Products::tight;
  return false;
}

}  // namespace fmbem
