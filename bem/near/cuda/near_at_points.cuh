#pragma once

#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/near_tiles.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda::bem {

/// Pairs of points and panels, as many as there is room for; `count` says how many there are.
struct EdgePairs {
  PointOnPanel* pair;
  unsigned long long room, *count;
};

/// The near field of a layer on panels at points. κ is of the tree's unit; with κ > 0 panels act by
/// rules where these serve, and not at all beyond `negligible`.
struct NearAtPoints : NearTilesAtPoints {
  const double* density;              ///< [panels]
  const unsigned long long* largest;  ///< bits of the largest density (strength_scale())
  Side side;
  NearView out;           ///< with gradients; second derivatives where there is room for them
  EdgePairs edges;        ///< of a single layer's gradient: what is infinite is left out
  MomentRulesView rules;  ///< of the highest derivative; of Laplace's kernel for slivers' pieces
  double kappa, negligible;
  int n_rules;       ///< of these, that are faster than closed forms
  CloseRules close;  ///< of Yukawa's kernel
};

/// Enqueues the sums over the panels of the near lists, times strength_scale() over the scale of
/// the kernel; by closed forms where that is Laplace's. Second derivatives have no κ.
void near_at_points(const NearAtPoints& near, Trace source, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
