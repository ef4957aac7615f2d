#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// Relative L2 errors at some targets; none of what was not computed, or where all is zero or
/// something is not finite.
struct SampledErrors {
  std::int64_t targets = 0;
  std::optional<double> potential{}, gradient{};
};

/// Compares results of charges at the points themselves with compensated direct sums, at so many
/// points picked pseudo-randomly from each of equal stretches. κ and the softening are as in
/// PlanOptions. O(points · targets).
SampledErrors sampled_errors(std::span<const Vec3d> points, std::span<const double> charges,
                             const Fields& results, std::size_t targets, double kappa = 0,
                             double softening = 0);

}  // namespace fmbem::fmm
