#pragma once

#include <optional>

#include "fmbem/cuda/histogram_tree.cuh"

namespace fmbem::cuda {

/// Points in Morton order that were gathered in another.
struct ResortedPoints {
  SortedKeys sorted;
  GatheredPoints gathered;
};

/// As sort_points(), of points with an order before, that of a tree whose keys have 64 bits. Its
/// leaves, in which most of them still are, divide all keys, and a leaf's keys are shared out among
/// the places of its points. Points are counted in these parts, of which most then have a few, and
/// ranked there by key and index. `leaves` are those with such points, the sources of the view.
/// Nothing where a part has more points than can be ranked one against the other. The host waits
/// once.
std::optional<ResortedPoints> resort_points(const PointsToCount& points, double scale,
                                            const Cube& root, const TreeView& tree,
                                            const DeviceBuffer<std::int32_t>& leaves,
                                            cudaStream_t stream);

}  // namespace fmbem::cuda
