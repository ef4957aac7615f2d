#pragma once

#include <cstdint>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// Bytes of a coefficient.
std::int64_t bytes_of_a_number(const Accuracy& accuracy);
/// Bytes of the moments of all sources, where they are kept and share no parts; none if nothing is
/// far.
std::int64_t kept_moment_bytes(const PointTree& tree, const Accuracy& accuracy, Moments moments);
/// Bytes of M2L's operators on the CPU where nothing else has made them yet: one set for all
/// levels, or Yukawa's of each level.
std::int64_t m2l_bytes(const PointTree& tree, const Accuracy& accuracy);

/// Bytes of an evaluation on the CPU. `moment_bytes` are those of moments that are kept.
PlanInfo plan_info(const PointTree& tree, const Accuracy& accuracy, std::int64_t moment_bytes,
                   std::int64_t operator_bytes);

/// Puts the pairs of a hybrid in the place of those of an FMM.
void count_hybrid(const PointTree& tree, PlanInfo& info);

}  // namespace fmbem::fmm
