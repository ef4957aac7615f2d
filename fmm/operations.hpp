#pragma once

#include <map>
#include <string>

#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// Floating-point operations of one evaluation of one right-hand side of charges, by stage: P2P,
/// M2P and M2L, as far as the method has them. A pair counts 11 operations, 20 with its gradient,
/// as the papers count them (Nyland, Harris and Prins 2007): a root is one, and each target's pairs
/// count although one root may serve two. M2L's are those of its products, which have lower orders
/// for farther boxes on the CPU, where the sources are the targets. On the GPU M2P of a treecode
/// counts its pairs of points, too, which the same kernel sums.
std::map<std::string, double> plan_operations(const PlanInfo& info, bool gradient,
                                              bool sources_are_targets, Processor processor);

}  // namespace fmbem::fmm
