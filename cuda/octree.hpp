#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/fmm/lists/near_lists.hpp"

namespace fmbem::cuda {

/// An octree and its near lists, as the GPU builds them for its plans, copied to the host.
struct HostTree {
  fmm::Octree tree;
  fmm::NearLists near;
};

/// The same as fmm::build_octree() and fmm::near_lists() make of the sorted points (times `unit`),
/// but for the order of each row of the lists, in which the leaf itself comes first. The same array
/// as sources and targets is one set of points. `deepest`, of the sources, is as in
/// fmm::sort_points(); with it the targets are other points. Throws InputError without a usable
/// GPU.
HostTree build_octree(const Cube& root, double unit, std::span<const Vec3d> sources,
                      std::span<const Vec3d> targets, int max_leaf,
                      std::span<const std::int8_t> deepest = {});

/// What an evaluation has to do in a tree whose sources are its targets.
struct TreeCounts {
  std::int64_t pairs;    ///< of sources and targets of the near field
  std::int64_t sources;  ///< of all rows of the near lists
  std::int64_t parents;  ///< rows of M2L: boxes but the root that are split
  std::int64_t leaves;
};

/// Those of trees in each of up to 8 roots with each of up to 16 numbers of points a leaf
/// (ascending, the last less than the number of points), as the GPU finds them for the choice of
/// one: [roots][max_leaf].
std::vector<TreeCounts> count_trees(std::span<const Cube> roots, double unit,
                                    std::span<const Vec3d> points, std::span<const int> max_leaf);

}  // namespace fmbem::cuda
