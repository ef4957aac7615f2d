#pragma once

#include <span>
#include <vector>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// The leaf size and inflation with the least time, at that order, by the cost model and trees of a
/// sample of the points times `scale`. `hull` is the bounding cube of all points. What the options
/// give is kept, and a tree is tried all the same where the order depends on it. Lattices
/// get roots that keep their points off corners of boxes.
TreeChoice choose_tree(const PlanOptions& options, int order, std::span<const Vec3d> sources,
                       std::span<const Vec3d> targets, double scale, const Hull& hull,
                       const Cloud& cloud);

/// Points picked pseudo-randomly, one from each of equal stretches, so that no order of the input
/// is favoured.
std::vector<Vec3d> sample(std::span<const Vec3d> points, std::size_t stride);

/// Whether sources and targets are one array.
inline bool are_same(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  return sources.data() == targets.data() && sources.size() == targets.size();
}

}  // namespace fmbem::fmm
