#pragma once

#include <cstdint>
#include <span>

#include "fmbem/fmm/tree/sorted_points.hpp"

namespace fmbem::fmm {

/// Cells of the deepest histogram: 8^8, 64 MiB of counts.
inline constexpr int deepest_histogram = 8;

/// The level of a histogram's cells, of which there are no more than a quarter of the points: so
/// counts take less room than the points, and a cell of a uniform cloud holds 4 to 32 of them.
int histogram_level(std::int64_t points);

/// What sort_points() returns, to the last bit, with bookmarks, and without a sort of all points:
/// they are counted in the cells of histogram_level(), the scanned counts say where each cell's
/// points begin, and points go there and are sorted in their cell by key and index. O(points).
/// Source: Q. Hu, N. A. Gumerov, R. Duraiswami, "Parallel algorithms for constructing data
/// structures for fast multipole methods", whose order within a cell differs from run to run.
SortedPoints sort_by_histogram(std::span<const Vec3d> points, double unit, const Cube& root);

}  // namespace fmbem::fmm
