#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/method.hpp"
#include "fmbem/fmm/tree/merge_leaves.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"

namespace fmbem::test {

/// An octree and its near lists, as the GPU builds them for its plans, copied to the host.
struct HostTree {
  fmm::Octree tree;
  fmm::NearLists near;
  std::vector<std::int32_t> source_order, target_order;  ///< the latter empty for one set of points
  bool counted = false;                                  ///< whether a histogram made it
};

/// The same as fmm::build_octree() and fmm::near_lists() make of the sorted points (times `scale`),
/// but for the order of each row of the lists, in which the leaf itself comes first. The same array
/// as sources and targets is one set of points. `deepest`, of the sources, is as in
/// fmm::sort_points(); with it the targets are other points. `levels` is what keys can tell:
/// deepest_level, or fmm::deepest_tree_level. Merged leaves come last.
HostTree build_device_tree(const Cube& root, double scale, std::span<const Vec3d> sources,
                           std::span<const Vec3d> targets, int max_leaf,
                           std::span<const std::int8_t> deepest = {},
                           fmm::Construction construction = fmm::Construction::radix_sort,
                           int levels = deepest_level, fmm::Leaves leaves = fmm::Leaves::plain);

/// As cuda::TreeCounts.
struct TrialCounts {
  std::int64_t pairs, sources, parents, leaves;
};

/// cuda::count_trees() of all the points: [roots][max_leaf].
std::vector<TrialCounts> count_device_trees(std::span<const Cube> roots, double scale,
                                            std::span<const Vec3d> points,
                                            std::span<const int> max_leaf, fmm::Leaves leaves);

}  // namespace fmbem::test
