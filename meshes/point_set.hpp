#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Most points of a set.
inline constexpr std::size_t most_points = 100'000'000;

/// How neighbouring points are joined where they are drawn.
enum class PointCells { single, segments, quadrangles };

/// Points in space: scattered, along a line, or on a grid.
struct PointSet {
  std::vector<Vec3d> points;
  PointCells cells = PointCells::single;
  std::size_t columns = 0;  ///< of a grid: points in a row
};

/// Scattered points. These functions throw InputError for more than most_points points, and for
/// coordinates beyond largest_length.
PointSet scattered_points(std::vector<Vec3d> points);

/// n ≥ 2 points from a to b at equal distances, ends included. Throws InputError if a = b.
PointSet points_on_line(Vec3d a, Vec3d b, double n);

/// A grid on the parallelogram of a corner and two edges, corner + i/(nu−1)·u + j/(nv−1)·v with i
/// running first; nu, nv ≥ 2. Throws InputError for edges that are zero or parallel.
PointSet points_on_plane(Vec3d corner, Vec3d u, Vec3d v, double nu, double nv);

/// The points of each cell, one cell after the other: 1, 2 or 4, around the cell.
std::size_t points_of_cell(PointCells cells);
std::vector<std::int64_t> connectivity(const PointSet& set);

}  // namespace fmbem
