#pragma once

#include "fmbem/fmm/lists/hybrid_lists.hpp"

namespace fmbem::fmm {

// Times of trees that are not made, by closed forms.

/// Points that fill a volume, a surface or a line evenly: `branching` is the number of boxes that a
/// split makes, 2^d in d dimensions (TreeChoice).
struct EvenCloud {
  double sources, targets, branching;
};

/// Of a treecode whose leaves have up to max_leaf points, and half as many in the mean, without
/// M2M. In d dimensions a box of side s acts on targets from √3 s/(2θ) on, up to where its parent
/// does: V_d (2^d − 1) (√3/(2θ))^d boxes of each level act on a target, V_d being the volume of the
/// unit ball, and the points of V_d (√3/θ)^d leaves. The targets of a leaf take whole warps.
double foreseen_treecode_seconds(const HybridCosts& costs, const EvenCloud& cloud, double theta,
                                 int max_leaf);

/// Of an FMM with such leaves. Rows of M2L are those of parents with targets, of which level l has
/// 2^(dl), or as many as there are targets, if these are fewer.
double foreseen_fmm_seconds(const HybridCosts& costs, const EvenCloud& cloud, int max_leaf);

}  // namespace fmbem::fmm
