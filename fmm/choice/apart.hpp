#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::fmm {

// Yukawa's kernel where no source is near to a target, or no point to another. All results then are
// small, e^{−κ nearest}, and nothing near hides what the far field lacks: pairs that elsewhere are
// below all errors count, and so do degrees beyond the order, which fall the later the larger κ is
// in the unit of a box.

/// Every so many-th point is in the sample of at most about a thousand that nearest_pair() takes.
inline std::size_t stride_apart(std::size_t points) {
  return std::max<std::size_t>(1, points / 1024);
}
std::vector<Vec3d> every(std::size_t stride, std::span<const Vec3d> points);

/// The distance of the nearest of all pairs of samples of sources and targets, a little more than
/// that of all points. 0 where κ times it is below a tenth, or below 1 where the samples' boxes
/// overlap: sources and targets that lie among each other have pairs that are nearer than that.
double nearest_pair(double kappa, std::span<const Vec3d> sources, std::span<const Vec3d> targets);

/// The same of points that are both, `sample` of so many: of each from all others, or the distance
/// of as many points of a lattice that fills their box, if that is less, as samples are farther
/// apart than the points. Points at one place do not act on each other. 0 where κ times it is below
/// 1, and where all results are 0 in double precision.
double nearest_other(double kappa, std::span<const Vec3d> sample, std::size_t points);

/// The lowest order from `order` on, that of Laplace's kernel, with no larger errors relative to
/// results, or more than the highest. Pairs of boxes are at most `largest_side` in size, and as far
/// apart as an FMM's or, of one size, as θ says.
int order_apart(int order, double kappa, double nearest, double largest_side,
                std::optional<double> theta = {});

/// The order of a plan: the one that is given, or order_for(), and more where sources and targets
/// are `nearest` apart in a root of that side.
int order_across(const PlanOptions& options, bool sources_are_targets, const Cloud& cloud,
                 double nearest, double root_side);

}  // namespace fmbem::fmm
