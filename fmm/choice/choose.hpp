#pragma once

#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// What the tolerance and the points decide, where the options do not.
struct Choice {
  int order;
  int max_leaf;
  double inflation;
};

/// Order whose error, as calibrated (docs/accuracy.md), is below the tolerance.
int order_for(const PlanOptions& options, bool sources_are_targets);

/// Order by the tolerance; leaf size and inflation by the least time that the cost model foresees
/// for trees of a sample of the points. `hull` is the bounding cube of all points.
Choice choose(const PlanOptions& options, std::span<const Vec3d> sources,
              std::span<const Vec3d> targets, double unit, const Cube& hull);

/// Each step doubles the volume of a box, three make a level. The first is not 1, because the
/// points of a lattice would lie on the faces of boxes, where expansions are worst.
inline constexpr double inflations[] = {1.02, 1.26, 1.59};

/// Whether sources and targets are one array.
inline bool are_same(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  return sources.data() == targets.data() && sources.size() == targets.size();
}

/// The hull, inflated about its centre.
Cube inflated(const Cube& hull, double inflation);

}  // namespace fmbem::fmm
