#pragma once

#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/near_tiles.cuh"
#include "fmbem/bem/near/cuda/rules.cuh"

namespace fmbem::cuda::bem {

/// The near field of charges and dipoles on panels at points.
struct NearPotentials : NearTilesAtPoints {
  const double* density;  ///< [2][panels]: charges, and dipoles times the tree's scale
  std::int64_t panels;
  const unsigned long long* largest;  ///< bits of the largest density (strength_scale())
  double kappa;                       ///< in the tree's unit, as all lengths
  /// From this distance beyond a panel's radius on, nothing counts; of Yukawa's kernel alone.
  double negligible;
  MomentRulesView rules;  ///< of the gradient, and so of potentials and of dipoles
  int n_rules;            ///< that are faster than closed forms
  CloseRules close;
  double* out;
};

/// Enqueues the sums over the panels of the near lists, times strength_scale() over the scale of
/// the kernel: by rules where these serve, by closed forms close by.
void near_potentials(const NearPotentials& near, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
