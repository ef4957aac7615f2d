#pragma once

#include <mutex>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// A plan as a backend makes it.
class PlanImpl {
 public:
  virtual ~PlanImpl() = default;

  virtual std::size_t sources() const = 0;
  virtual std::size_t targets() const = 0;
  virtual PlanInfo info() const = 0;
  /// Overwrites the fields. Arguments as checked by Plan::evaluate: there are strengths, there are
  /// results, and the plan was made for them.
  virtual void evaluate(const Strengths& strengths, const Fields& fields) = 0;

  std::mutex evaluating;  ///< evaluations go one after the other: they share expansions
  PlanOptions options;
  Seconds plan_seconds, evaluate_seconds;
};

/// Throws InputError for options that cannot be met, by a backend that has second derivatives or,
/// as on the GPU, has none.
void check_options(const PlanOptions& options, bool has_hessians = false);

}  // namespace fmbem::fmm
