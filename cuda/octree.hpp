#pragma once

#include <cstdint>
#include <span>

#include "fmbem/fmm/octree.hpp"

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

}  // namespace fmbem::cuda
