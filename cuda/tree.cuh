#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/tree/morton_bits.hpp"
#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::cuda {

/// What kernels see of SortedKeys.
struct KeysView {
  const std::uint64_t* key;
  const std::int8_t* deepest;  ///< null if all are points
  std::int32_t size;
};

/// Points in Morton order, as fmm::SortedPoints.
struct SortedKeys {
  DeviceBuffer<std::uint64_t> keys;     ///< [n], ascending
  DeviceBuffer<std::int32_t> order;     ///< [n], input index of the k-th point
  DeviceBuffer<std::int8_t> deepest{};  ///< [n], deepest level of each; empty if all are points
  std::int64_t size() const { return static_cast<std::int64_t>(order.size()); }
  KeysView view() const {
    return {keys.data(), deepest.data(), static_cast<std::int32_t>(keys.size())};
  }
};

/// Sorts the points times `scale` by their key in the root, ties by index. `deepest`, [n] in the
/// points' order, or null: as in fmm::sort_points().
SortedKeys sort_points(const Vec3d* points, std::int64_t n, double scale, const Cube& root,
                       const std::int8_t* deepest, cudaStream_t stream);

/// Keys of sources and targets together, without an order; with depths where the sources have them.
SortedKeys merged_keys(const SortedKeys& sources, const SortedKeys& targets, cudaStream_t stream);

/// A code of a box is a one followed by its key: the 3·level leading bits of its points' keys. So
/// codes ascend level by level and in Morton order within a level.
FMBEM_HD inline int level_of(std::uint64_t code) {
#ifdef __CUDA_ARCH__
  return (63 - __clzll(static_cast<long long>(code))) / 3;
#else
  return (63 - __builtin_clzll(code)) / 3;
#endif
}
FMBEM_HD constexpr std::uint64_t first_code(int level) { return std::uint64_t{1} << 3 * level; }
FMBEM_HD constexpr std::uint64_t key_in(std::uint64_t code, int level) {
  return code - first_code(level);
}

/// Levels down to which two keys share their boxes.
__device__ inline int common_levels(std::uint64_t a, std::uint64_t b) {
  return a == b ? deepest_level : (__clzll(static_cast<long long>(a ^ b)) - 1) / 3;
}

/// Of ranges of points.
__device__ inline bool is_empty(int2 range) { return range.x == range.y; }
__device__ inline int size_of(int2 range) { return range.y - range.x; }

/// What kernels see of a tree. A "split" is a box that is not a leaf: splits have numbers of their
/// own, in the order of the boxes.
struct TreeView {
  const std::uint64_t* code;      ///< [boxes]
  const std::int32_t* split_of;   ///< [boxes], −1 for a leaf
  const std::int32_t* parent;     ///< [boxes], split that the box is a child of; −1 for the root
  const int2* sources;            ///< [boxes], begin and end among the sorted points
  const int2* targets;            ///< [boxes]
  const std::int32_t* box_of;     ///< [splits]
  const std::int32_t* child;      ///< [splits][8], boxes by octant; −1 where empty
  const std::int32_t* colleague;  ///< [splits][27], boxes of the same level that touch it; −1
  /// [boxes], the first of the sources, which are not in its children: 0 for a leaf; null for
  /// points.
  const std::int32_t* held;

  /// With sources and targets swapped: none is held, as targets are points.
  TreeView transposed() const {
    TreeView back = *this;
    std::swap(back.sources, back.targets);
    back.held = nullptr;
    return back;
  }
  /// Sources that no child has.
  __device__ int2 own_sources(std::int32_t box) const {
    const int2 all = sources[box];
    if (split_of[box] < 0) return all;
    return make_int2(all.x, held ? all.x + held[box] : all.x);
  }
};

/// The same tree as fmm::build_octree(), built on the device.
struct DeviceTree {
  Cube root;
  std::int64_t boxes = 0, splits = 0;
  std::vector<std::int32_t> box_begin;    ///< [levels + 1]
  std::vector<std::int32_t> split_begin;  ///< [levels + 1]

  DeviceBuffer<std::uint64_t> code;
  DeviceBuffer<std::int32_t> split_of, parent, box_of, child, colleague;
  DeviceBuffer<int2> sources, other_targets;  ///< the latter empty where sources are the targets
  DeviceBuffer<std::int32_t> held;            ///< empty for points

  int levels() const { return static_cast<int>(box_begin.size()) - 1; }
  double side(int level) const;
  std::int64_t bytes() const;
  TreeView view() const {
    return {code.data(),
            split_of.data(),
            parent.data(),
            sources.data(),
            other_targets.size() > 0 ? other_targets.data() : sources.data(),
            box_of.data(),
            child.data(),
            colleague.data(),
            held.data()};
  }
};

/// Splits every box with more than max_leaf sources or targets and, for the grading, those that
/// fmm::Octree asks for. `targets` is null where the sources, all of them points, are the targets.
/// The host waits three times for a moment, whatever the depth.
DeviceTree build_tree(const Cube& root, const SortedKeys& sources, const SortedKeys* targets,
                      int max_leaf, cudaStream_t stream);

/// Indices of the flags that are set, in order. Waits for the device.
DeviceBuffer<std::int32_t> where(const DeviceBuffer<std::int32_t>& flags, cudaStream_t stream);

/// Smallest and largest coordinates, and the first point that is not finite (n if all are). Waits
/// for the device.
struct Bounds {
  Vec3d low, high;
  std::int64_t first_bad;
};
Bounds bounds_of(const Vec3d* points, std::int64_t n, cudaStream_t stream);

}  // namespace fmbem::cuda
