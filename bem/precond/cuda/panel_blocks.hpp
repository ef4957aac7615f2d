#pragma once

#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/cuda/pair_vectors.hpp"
#include "fmbem/bem/precond/panel_surfaces.hpp"

namespace fmbem::cuda::bem {

/// What the 2×2 block of a panel of a surface is made of, with V and D = ∂_n K of the panel at its
/// own centroid, of Yukawa's kernels less Laplace's, κ above 0, or 0 where there is no such term:
///
///     ( diagonal[0]               upper Σ_t v_t V(κ_t) )
///     ( lower Σ_t d_t D(κ_t)      diagonal[1]          )
struct PanelBlockTerms {
  double diagonal[2] = {1, 1}, upper = 1, lower = 1;
  double kappa[2] = {}, v[2] = {}, d[2] = {};
};

/// Inverses of the blocks of all panels, on the current GPU. `terms`: [surfaces]. Throws
/// ResourceError where they do not fit.
PairBlocks inverse_of_panel_blocks(const Panels& panels, const PanelSurfaces& surfaces,
                                   std::span<const PanelBlockTerms> terms);

}  // namespace fmbem::cuda::bem
