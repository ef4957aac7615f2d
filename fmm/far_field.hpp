#pragma once

#include <memory>
#include <optional>
#include <span>

#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/plan_data.hpp"
#include "fmbem/fmm/spread_sources.hpp"

namespace fmbem::fmm {

struct FarFieldOptions {
  int order = 10;  ///< degree p of the expansions, 1 to 40
  Precision precision = Precision::double_precision;
  bool gradient = false;  ///< gradients will be asked for
  /// How far a source may stick out of its box, in sides: those that would stick out of a box
  /// farther belong to its parent, or that one's.
  double overhang = 0.1;
  /// Seconds of one thread for a near pair, to be weighed against those of the far field.
  double near_pair_seconds = 1e-9;
  std::optional<int> max_leaf{};      ///< most sources that may sink, or targets, of a leaf
  std::optional<double> inflation{};  ///< side of the root over that of the bounding cube, [1, 2)
  /// Moments of the sources are kept, K numbers each, or integrated again in every evaluation.
  bool keep_moments = true;
};

/// The far field of spread sources at points: of the sum over sources j of
///
///     strength_j Σ_q w_jq G(x_i, y_jq),   G(x, y) = 1/(4π|x − y|),
///
/// with the weighted points of source j, all that is not in the near lists. The near lists are
/// left to the caller, who has better means there: exact integrals.
class FarField {
 public:
  /// The sources must outlive it, the targets need not. Throws InputError for options that are out
  /// of range and positions that are not finite, ResourceError for want of memory.
  FarField(const SpreadSources& sources, std::span<const Vec3d> targets,
           const FarFieldOptions& options);
  ~FarField();
  FarField(FarField&&) noexcept;
  FarField& operator=(FarField&&) noexcept;

  /// Potentials [count][targets] and gradients of strengths.charges [count][sources], overwriting
  /// them. Evaluations may not run at the same time. O(sources K + boxes K²).
  void evaluate(const Strengths& strengths, const Fields& fields) const;

  /// Tree, lists, and in which order sources and targets stand in them.
  const PlanData& data() const;
  PlanInfo info() const;
  Seconds evaluate_seconds() const;
  Seconds plan_seconds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::fmm
