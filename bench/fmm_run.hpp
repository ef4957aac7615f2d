#pragma once

#include <memory>
#include <span>
#include <string>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::bench {

/// One evaluation's time and that of its stages.
struct Evaluation {
  double seconds = 0;
  fmm::Seconds stages;

  /// 0 for a stage that the evaluation did not have.
  double of_stage(const char* name) const {
    const auto found = stages.find(name);
    return found == stages.end() ? 0 : found->second;
  }
};

/// A plan of either backend.
class FmmRun {
 public:
  virtual ~FmmRun() = default;
  virtual fmm::PlanInfo info() const = 0;
  virtual double plan_seconds() const = 0;
  virtual fmm::Seconds plan_stages() const = 0;
  virtual void evaluate(const fmm::Strengths& strengths, const fmm::Fields& fields) = 0;
  /// The evaluation of median time (of an even number, the lower one). On a GPU the data are in its
  /// memory, and stages are timed one after the other, without the overlap of the whole.
  virtual Evaluation median(const fmm::Strengths& strengths, const fmm::Fields& fields,
                            int repeat) = 0;
};

/// `backend` is cpu or cuda. Targets are the sources, or the first of them. A plan on cuda is made
/// twice, as the first one waits for operators and memory; the second one is timed.
std::unique_ptr<FmmRun> make_run(const std::string& backend, std::span<const Vec3d> sources,
                                 std::span<const Vec3d> targets, const fmm::PlanOptions& options);

}  // namespace fmbem::bench
