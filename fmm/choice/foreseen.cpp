#include "fmbem/fmm/choice/foreseen.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fmbem::fmm {
namespace {

/// What both methods have of a tree.
struct EvenTree {
  EvenTree(const HybridCosts& costs, const EvenCloud& cloud, int max_leaf)
      : branching(std::clamp(cloud.branching, 2.0, 8.0)),
        dimension(std::log2(branching)),
        of_a_leaf(std::max(1.0, 0.5 * max_leaf)),
        leaves(std::max(1.0, cloud.sources / of_a_leaf)),
        levels(std::log(leaves) / std::log(branching)),
        leaves_with_targets(std::min(cloud.targets, leaves)),
        expansions(costs.box * leaves) {}

  double branching, dimension, of_a_leaf, leaves, levels, leaves_with_targets;
  double expansions;  ///< seconds of P2M and L2P of all leaves
};

double volume_of_unit_ball(double dimension) {
  return std::pow(std::numbers::pi, 0.5 * dimension) / std::tgamma(0.5 * dimension + 1);
}

}  // namespace

double foreseen_treecode_seconds(const HybridCosts& costs, const EvenCloud& cloud, double theta,
                                 int max_leaf) {
  const EvenTree tree(costs, cloud, max_leaf);
  const double sides = std::sqrt(3.0) / (2 * theta);  // of a box, from where on it acts
  const double ball = volume_of_unit_ball(tree.dimension) * std::pow(sides, tree.dimension);
  const double boxes = ball * (tree.branching - 1) * tree.levels,
               points = std::min(cloud.sources, ball * tree.branching * tree.of_a_leaf);
  const double targets = std::max(cloud.targets, costs.lanes * tree.leaves_with_targets);
  return tree.expansions + targets * (boxes * costs.m2p_target + points * costs.pair);
}

double foreseen_fmm_seconds(const HybridCosts& costs, const EvenCloud& cloud, int max_leaf) {
  const EvenTree tree(costs, cloud, max_leaf);
  double parents = 0;
  for (int level = 0; level < tree.levels; ++level)  // of the last one a part is split
    parents += std::min(1.0, tree.levels - level) *
               std::min(std::pow(tree.branching, level), cloud.targets);
  const double near = std::min(cloud.sources, std::pow(3, tree.dimension) * tree.of_a_leaf);
  return tree.expansions + parents * costs.parent +
         near * (cloud.targets * costs.pair + tree.leaves_with_targets * costs.near_source);
}

}  // namespace fmbem::fmm
