#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/tree/morton_bits.hpp"
#include "fmbem/fmm/tree/octree.hpp"
#include "fmbem/fmm/tree/tree_key.hpp"

namespace fmbem::cuda {

/// What kernels see of SortedKeys.
template <class Key>
struct KeysViewOf {
  const Key* key;
  const std::int8_t* deepest;  ///< null if all are points
  std::int32_t size;
};

/// Points in Morton order, as fmm::SortedPoints.
template <class Key>
struct SortedKeysOf {
  DeviceBuffer<Key> keys;               ///< [n], ascending
  DeviceBuffer<std::int32_t> order;     ///< [n], input index of the k-th point
  DeviceBuffer<std::int8_t> deepest{};  ///< [n], deepest level of each; empty if all are points
  std::int64_t size() const { return static_cast<std::int64_t>(order.size()); }
  KeysViewOf<Key> view() const {
    return {keys.data(), deepest.data(), static_cast<std::int32_t>(keys.size())};
  }
};
using SortedKeys = SortedKeysOf<std::uint64_t>;
/// Of points alone, for trees of more levels.
using DeepKeys = SortedKeysOf<fmm::TreeKey>;

/// The deepest level that keys can tell.
template <class Key>
inline constexpr int deepest_level_in = sizeof(Key) == 8 ? deepest_level : fmm::deepest_tree_level;

/// Sorts the points times `scale` by their key in the root, ties by index. `deepest`, [n] in the
/// points' order, or null: as in fmm::sort_points().
SortedKeys sort_points(const Vec3d* points, std::int64_t n, double scale, const Cube& root,
                       const std::int8_t* deepest, cudaStream_t stream);
DeepKeys sort_points_deep(const Vec3d* points, std::int64_t n, double scale, const Cube& root,
                          cudaStream_t stream);

/// Keys of sources and targets together, without an order; with depths where the sources have them.
SortedKeys merged_keys(const SortedKeys& sources, const SortedKeys& targets, cudaStream_t stream);
DeepKeys merged_keys(const DeepKeys& sources, const DeepKeys& targets, cudaStream_t stream);

/// A code of a box is a one followed by its key: the 3·level leading bits of its points' keys. So
/// codes ascend level by level and in Morton order within a level.
FMBEM_HD inline int level_of(std::uint64_t code) {
#ifdef __CUDA_ARCH__
  return (63 - __clzll(static_cast<long long>(code))) / 3;
#else
  return (63 - __builtin_clzll(code)) / 3;
#endif
}
FMBEM_HD inline int level_of(fmm::TreeKey code) {
  // The upper bits are those of levels from 22 on, and a code of level 21 has 64 bits.
  constexpr int shift = 3 * deepest_level;
  const auto upper = static_cast<std::uint64_t>(code >> shift);
  return upper > 1 ? deepest_level + level_of(upper) : level_of(static_cast<std::uint64_t>(code));
}
template <class Key = std::uint64_t>
FMBEM_HD constexpr Key first_code(int level) {
  return Key{1} << 3 * level;
}
template <class Key>
FMBEM_HD constexpr Key key_in(Key code, int level) {
  return code - first_code<Key>(level);
}

/// Levels down to which two keys share their boxes.
__device__ inline int common_levels(std::uint64_t a, std::uint64_t b) {
  return a == b ? deepest_level : (__clzll(static_cast<long long>(a ^ b)) - 1) / 3;
}
__device__ inline int common_levels(fmm::TreeKey a, fmm::TreeKey b) {
  constexpr int bits = 3 * deepest_level;
  constexpr std::uint64_t lower = (std::uint64_t{1} << bits) - 1;
  const auto first = static_cast<std::uint64_t>(a >> bits),
             second = static_cast<std::uint64_t>(b >> bits);
  if (first != second) return common_levels(first, second);
  return deepest_level + common_levels(static_cast<std::uint64_t>(a) & lower,
                                       static_cast<std::uint64_t>(b) & lower);
}

/// Of ranges of points.
__device__ inline bool is_empty(int2 range) { return range.x == range.y; }
__device__ inline int size_of(int2 range) { return range.y - range.x; }

/// What kernels see of a tree. A "split" is a box that is not a leaf: splits have numbers of their
/// own, in the order of the boxes.
struct TreeView {
  const std::uint64_t* code;      ///< [boxes], the lower 64 bits
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
  const std::uint64_t* upper_code;  ///< [boxes], the other bits; null in trees that need none

  __device__ int level(std::int32_t box) const {
    const std::uint64_t upper = upper_code ? upper_code[box] : 0;
    return upper ? (127 - __clzll(static_cast<long long>(upper))) / 3 : level_of(code[box]);
  }
  /// Place in the grid of its level.
  __device__ fmm::TreeCell cell(std::int32_t box) const {
    if (upper_code) {
      const fmm::TreeKey own = deep_code(box);
      return fmm::cell_of(key_in(own, level_of(own)));
    }
    const Cell cell = grid_cell(key_in(code[box], level_of(code[box])));
    return {cell.x, cell.y, cell.z};
  }
  /// The octant of its ancestor on a level below the root's.
  __device__ int octant(std::int32_t box, int on_level) const {
    const int shift = 3 * (level(box) - on_level);
    return static_cast<int>((upper_code ? deep_code(box) >> shift : code[box] >> shift) & 7);
  }

  /// With sources and targets swapped: none is held, as targets are points.
  TreeView transposed() const {
    TreeView back = *this;
    std::swap(back.sources, back.targets);
    back.held = nullptr;
    return back;
  }
  __device__ fmm::TreeKey deep_code(std::int32_t box) const {
    return static_cast<fmm::TreeKey>(upper_code[box]) << 64 | code[box];
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

  DeviceBuffer<std::uint64_t> code, upper_code;  ///< the latter empty where it is 0
  DeviceBuffer<std::int32_t> split_of, parent, box_of, child, colleague;
  DeviceBuffer<int2> sources, other_targets;  ///< the latter empty where sources are the targets
  DeviceBuffer<std::int32_t> held;            ///< empty for points

  int levels() const { return static_cast<int>(box_begin.size()) - 1; }
  /// The deepest level that its keys could tell.
  int deepest() const { return upper_code.size() > 0 ? fmm::deepest_tree_level : deepest_level; }
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
            held.data(),
            upper_code.data()};
  }
};

/// Splits every box with more than max_leaf sources or targets and, for the grading, those that
/// fmm::Octree asks for. `targets` is null where the sources, all of them points, are the targets.
/// The host waits three times for a moment, whatever the depth.
template <class Key>
DeviceTree build_tree(const Cube& root, const SortedKeysOf<Key>& sources,
                      const SortedKeysOf<Key>* targets, int max_leaf, cudaStream_t stream);

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
