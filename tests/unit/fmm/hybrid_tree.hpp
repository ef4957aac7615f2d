#pragma once

#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::test {

/// Kernels that take about as long as those of a processor, at order 4.
inline fmm::HybridCosts usual_costs() {
  return {.pair = 1e-10,
          .near_source = 1e-9,
          .near_box = 2e-8,
          .m2l_row = 2e-7,
          .m2l_pair = 4e-8,
          .m2p_target = 1e-8,
          .p2l_source = 1e-8,
          .box = 5e-8};
}

/// A tree without lists, of points that are within 25 of the origin.
inline fmm::PointTree tree_without_lists(const std::vector<Vec3d>& y, const std::vector<Vec3d>& x,
                                         int max_leaf) {
  const Cube root{{-25, -25, -25}, 51.3};
  const bool same = &x == &y;
  fmm::PointTree tree{.scale = 1, .sources_are_targets = same};
  tree.sources = fmm::sort_points(y, 1, root);
  if (!same) tree.other_targets = fmm::sort_points(x, 1, root);
  tree.octree = fmm::build_octree(root, tree.sources, tree.targets(), max_leaf);
  return tree;
}

/// The same with a hybrid's.
inline fmm::PointTree hybrid_tree(const std::vector<Vec3d>& y, const std::vector<Vec3d>& x,
                                  int max_leaf, double theta, const fmm::HybridCosts& costs,
                                  double reach = fmm::endless,
                                  const fmm::NearReach& near_reach = fmm::integer_reach) {
  fmm::PointTree tree = tree_without_lists(y, x, max_leaf);
  fmm::make_hybrid_lists(tree, theta, costs, near_reach, reach);
  return tree;
}

}  // namespace fmbem::test
