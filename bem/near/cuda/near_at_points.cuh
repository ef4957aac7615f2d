#pragma once

#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/near/cuda/rules.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda::bem {

/// Targets that a warp takes, at most.
inline constexpr int points_of_a_warp = 32;

/// Pairs of points and panels, as many as there is room for; `count` says how many there are.
struct EdgePairs {
  PointOnPanel* pair;
  unsigned long long room, *count;
};

/// The near field of a layer on panels at points. Lengths are in the tree's unit.
struct NearAtPoints {
  const Vec3d* vertices;              ///< [panels][3], in the panels' unit
  const std::int32_t* source_order;   ///< panels in the order of the near lists
  const double* density;              ///< [panels]
  const unsigned long long* largest;  ///< bits of the largest density (strength_scale())
  PointsView<double> targets;
  NearListsView lists;
  const NearItem* items;
  std::int64_t n_items;
  double scale;  ///< the tree's unit over the panels'
  double reach;  ///< extent of the panels and distance of their origin, for surface_rounding()
  Side side;
  MomentRulesView rules;  ///< of the gradient, for pieces of slivers that are far
  NearView out;           ///< with gradients
  EdgePairs edges;        ///< of a single layer's gradient: what is infinite is left out
};

/// Enqueues the sums of closed forms over the panels of the near lists, times strength_scale() over
/// the scale of the kernel.
void near_at_points(const NearAtPoints& near, Trace source, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
