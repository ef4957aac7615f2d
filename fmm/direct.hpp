#pragma once

#include <span>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// The sums that Plan::evaluate approximates, term by term in double precision and added up with
/// Neumaier's compensated summation (1974), so their own error stays at a few 1e-16 of the sum of
/// the terms' magnitudes. Shares nothing with Plan, whose method `direct` is the fast one. With a
/// softening ε, r is √(|x − y|² + ε²), but pairs that coincide still contribute nothing.
/// O(sources · targets).
/// Throws InputError for sizes that do not belong together and a negative κ.
void direct_sum(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
                const Strengths& strengths, const Fields& fields, double kappa = 0,
                double softening = 0);

}  // namespace fmbem::fmm
