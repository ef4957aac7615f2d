#pragma once

#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// What an evaluation computes with, whatever its tree.
struct Accuracy {
  int order = 0;                                           ///< degree p of the expansions
  Precision precision = Precision::double_precision;       ///< of the expansions
  Precision near_precision = Precision::double_precision;  ///< of the near field
  int root_terms = 3;                                      ///< as root_terms()
};

/// That of plans on the CPU, by the tolerance where the options do not say.
Accuracy accuracy_for(const PlanOptions& options, bool sources_are_targets);

/// Order whose error, as calibrated (docs/accuracy.md), is below the tolerance.
int order_for(const PlanOptions& options, bool sources_are_targets);

/// Single where the tolerance allows it, unless the options say otherwise. The sums of expansions
/// in single precision are off by some 4e-7 of the far field: near 1e-6 that serves where there is
/// a near field besides, which sources that are the targets have; second derivatives lose more.
Precision precision_of(const PlanOptions& options, bool sources_are_targets);
/// Derivatives need more digits of the near field than single precision has, below 1e-6, and of
/// dipoles below 1e-5.
Precision near_precision_of(const PlanOptions& options);

/// Terms of the series for 1/r that the near field needs: 0 for 1e-4, 1 for 1e-8, 2 for 1e-12, 3
/// for all bits.
int root_terms(const PlanOptions& options);
}  // namespace fmbem::fmm
