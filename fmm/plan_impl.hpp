#pragma once

#include <mutex>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// A plan, as a backend implements it.
class PlanImpl {
 public:
  virtual ~PlanImpl() = default;

  virtual std::size_t sources() const = 0;
  virtual std::size_t targets() const = 0;
  virtual PlanInfo info() const = 0;
  /// Overwrites the fields. Arguments are as Plan::evaluate checks them: there are strengths and
  /// results, and the plan was made for them.
  virtual void evaluate(const Strengths& strengths, const Fields& fields) = 0;

  std::mutex evaluating;  ///< evaluations go one after the other: they share expansions
  PlanOptions options;
  Seconds plan_seconds, evaluate_seconds;
};

enum class HasYukawa { no, yes };
/// Throws InputError for options that cannot be met, by a backend that has Yukawa's kernel or not.
void check_options(const PlanOptions& options, HasYukawa has_yukawa = HasYukawa::no);

}  // namespace fmbem::fmm
