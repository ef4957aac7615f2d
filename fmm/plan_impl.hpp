#pragma once

#include <mutex>

#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"

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
  /// The same, with seconds of all stages.
  virtual void evaluate_stages(const Strengths& strengths, const Fields& fields) {
    evaluate(strengths, fields);
  }
  /// As Plan::move(); `same` says whether it got one set of points. Sizes are not checked yet.
  virtual void move(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same) = 0;

  std::mutex evaluating;  ///< evaluations go one after the other: they share expansions
  PlanOptions options;
  Seconds plan_seconds, evaluate_seconds;
};

/// How many points a plan is of, and whether the sources are the targets.
struct PlanSize {
  std::size_t sources, targets;
  bool same;
};
/// Throws InputError where a plan cannot move to so many places.
void check_move(const PlanSize& plan, const PlanSize& places);

/// Whether a root of Yukawa's operators serves on: points neither leave it nor leave most of it
/// empty. `hull` is their bounding cube in its unit.
bool stays_in(const Cube& root, const Cube& hull);

/// Throws InputError for options that cannot be met.
void check_options(const PlanOptions& options, Processor processor = Processor::gpu);

}  // namespace fmbem::fmm
