#pragma once

#include <optional>

#include "fmbem/cuda/lists.cuh"

namespace fmbem::cuda {

/// Cells of the deepest histogram: 8^8, 64 MiB of counts.
inline constexpr int deepest_histogram = 8;

/// Points one after the other in an order that was theirs before, and which of them is the k-th in
/// a tree: where they have not gone far, neighbours are close to each other in memory.
struct GatheredPoints {
  DeviceBuffer<Vec3d> points{};
  DeviceBuffer<std::int32_t> place{};
  /// What says the same of points that were not gathered.
  PlacesInOrder or_else(const PlacesInOrder& points_and_order) const {
    return points.size() > 0 ? PlacesInOrder{points.data(), place.data()} : points_and_order;
  }
};

/// Points in the order of a tree.
struct CountedPoints {
  DeviceBuffer<std::int32_t> order{};  ///< [n], input index of the k-th point
  GatheredPoints gathered{};           ///< with an order of before
};

/// A tree with the points in its order.
struct HistogramTree {
  CountedPoints sources, targets;  ///< the latter empty where the sources are the targets
  DeviceTree tree;
  int level = 0;  ///< of the cells
};

/// Points in device memory, as sort_points() takes them.
struct PointsToCount {
  const Vec3d* points = nullptr;
  std::int64_t count = 0;
  const std::int32_t* order_before = nullptr;  ///< or null: of points that have not gone far
};

/// The tree of build_tree(), and the order of sort_points(), to the last bit, without a sort of all
/// points: they are counted in the cells of a level, the scanned counts say where each cell's
/// points begin, and points go there and are ranked in their cell by key and index. All boxes of a
/// complete octree have a place by their key; so ranges of points, children and colleagues are
/// looked up, and boxes are numbered by a scan. `targets` is null where the sources are the
/// targets. Levels from `first_level` on are tried, which does not change the tree. Nothing where
/// cells of the deepest level that has room, 8, still hold more than `max_leaf` points, or than can
/// be ranked one against the other: build_tree() has no such limit. O(points + cells), of which
/// there are fewer than 64 for each point or 8^8; the host waits once for each level that is tried,
/// and once more. Source: Q. Hu, N. A. Gumerov, R. Duraiswami, "Parallel algorithms for
/// constructing data structures for fast multipole methods".
std::optional<HistogramTree> build_tree_by_histogram(const Cube& root, double scale,
                                                     PointsToCount sources,
                                                     const PointsToCount* targets, int max_leaf,
                                                     int first_level, cudaStream_t stream);

}  // namespace fmbem::cuda
