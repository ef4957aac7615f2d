#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/lists/reach.hpp"

namespace fmbem::fmm {

/// Boxes that act on one leaf of a treecode: by their expansions (M2P), and point by point (P2P).
/// Together they have each source once.
struct TreecodeBoxes {
  std::vector<std::int32_t> m2p, p2p;
  std::vector<std::int32_t> waiting{};  ///< of the walk
};

/// Whether a box acts on a leaf by its expansion: (r_t + r_s)/R ≤ θ with half diagonals r and the
/// distance R of the centres. Then r_s/|x − c_s| ≤ θ for each target x of the leaf, and the
/// expansion's error there is at most θ^(p+1)/(1 − θ) · Σ|q_j|/|x − c_s| (docs/theory.md). In the
/// unit cube sides and distances are exact, so that pairs at just θ, of which there are many where
/// it is a fraction such as 3/5, are the same whatever the root's side, and on a GPU.
inline bool is_accepted(const Box& leaf, const Box& box, double theta) {
  const double radii = 0.5 * std::sqrt(3.0) * (unit_side(leaf.level) + unit_side(box.level));
  return radii * radii <= theta * theta * norm2(unit_centre(leaf) - unit_centre(box));
}

/// Walks from the root: a box that is accepted, and has expansions, acts as a whole, a leaf that is
/// not acts point by point, and of other boxes the children are looked at, all but those beyond the
/// reach. The walk of a leaf needs nothing of the others, so no list of all of them is kept.
/// O(log N) boxes.
void walk_treecode(const Octree& tree, const Box& leaf, double theta, double reach,
                   TreecodeBoxes& boxes);

/// What the walks of all leaves with targets find: pairs of boxes and targets, and of sources and
/// targets. With a stride only every so-manieth leaf is walked, and stands for the others.
struct TreecodeWork {
  double m2p_pairs = 0, p2p_pairs = 0;
};
/// How a leaf's targets count: each stands for `weight` of them, and kernels take whole registers.
struct TargetsOfWalk {
  double weight = 1;
  int lanes_of_m2p = 1, lanes_of_p2p = 1;
};
TreecodeWork treecode_work(const Octree& tree, const std::vector<std::int32_t>& leaves,
                           double theta, double reach, std::size_t stride = 1,
                           const TargetsOfWalk& targets = {});

}  // namespace fmbem::fmm
