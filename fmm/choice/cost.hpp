#pragma once

#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"
#include "fmbem/fmm/lists/trial_trees.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// Foresees the time of one thread for one right-hand side from the work that a tree makes and the
/// machine's rates. The tree may be that of a sample, each of whose points stands for `weight`
/// points.
class CostModel {
 public:
  CostModel(const PlanOptions& options, bool sources_are_targets, int order, double weight);

  double near_seconds(const TreeWork& work) const;
  double far_seconds(const TreeWork& work) const;
  /// Time of all pairs, without a far field.
  double direct_seconds(std::size_t sources, std::size_t targets) const;

  /// Points of a leaf, in uniformly filled space, for which near field and M2L take equally long.
  double balanced_leaf() const;
  /// What the traversal of a hybrid weighs.
  HybridCosts hybrid_costs() const;

 private:
  /// Seconds of a pair, an M2L row, a point, a box; and of a near source and a near box of a leaf.
  double pair_, row_, point_, box_, near_source_, near_box_;
  /// Of a hybrid: seconds of two boxes, a target and a box, a source and a box; and what a pair
  /// takes more that integers do not hold.
  double m2l_pair_, m2p_target_, p2l_source_, far_pair_;
  int lanes_;  ///< of M2P and P2L
  double weight_;
};

/// Boxes and targets of M2P that one thread does in a second at that order.
double m2p_pairs_per_second(const PlanOptions& options, int order);

/// Pairs of the near field that one thread does in a second.
double near_pairs_per_second(const PlanOptions& options, bool sources_are_targets);

}  // namespace fmbem::fmm
