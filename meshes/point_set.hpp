#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Most points of a set.
inline constexpr std::size_t most_points = 100'000'000;

/// How neighbouring points are joined where they are drawn.
enum class PointCells { single, segments, quadrangles, hexahedra };

/// Points in space: scattered, along a line, or on a grid of two or three directions.
struct PointSet {
  std::vector<Vec3d> points;
  PointCells cells = PointCells::single;
  std::size_t columns = 0;  ///< of a grid: points in a row
  std::size_t rows = 0;     ///< of a grid: rows in a layer
};

/// Scattered points. These functions throw InputError for more than most_points points, and for
/// coordinates beyond largest_length.
PointSet scattered_points(std::vector<Vec3d> points);

/// n ≥ 2 points from a to b at equal distances, ends included. Throws InputError if a = b.
PointSet points_on_line(Vec3d a, Vec3d b, double n);

/// A grid on the parallelogram of a corner and two edges, corner + i/(nu−1)·u + j/(nv−1)·v with i
/// running first; nu, nv ≥ 2. Throws InputError for edges that are zero or parallel.
PointSet points_on_plane(Vec3d corner, Vec3d u, Vec3d v, double nu, double nv);

/// A grid in the box between two opposite corners, the first of them with the smaller coordinates;
/// x runs first, then y. Throws InputError for a box without volume.
PointSet points_in_box(Vec3d min, Vec3d max, double nx, double ny, double nz);

/// How far points may reach.
struct Reach {
  static constexpr double far = std::numeric_limits<double>::infinity();
  Vec3d min{-far, -far, -far}, max{far, far, far};
};

/// A grid of about n points along its longer side on the rectangle across an axis (0, 1, 2) at a
/// place, around the box between two corners: wider by a third of this box's longest side, but not
/// beyond `reach`.
PointSet points_on_cut(Vec3d min, Vec3d max, int axis, double at, std::size_t n,
                       const Reach& reach = {});

/// The vectors from a grid's first point to the next in each direction, as far as there are such.
std::array<Vec3d, 3> steps_of(const PointSet& grid);

/// The points of each cell, one cell after the other: 1, 2, 4 or 8, around each layer of the cell.
std::size_t points_of_cell(PointCells cells);
std::vector<std::int64_t> connectivity(const PointSet& set);

}  // namespace fmbem
