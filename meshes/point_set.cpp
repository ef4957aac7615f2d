#include "fmbem/meshes/point_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// A number of points as a user gives it: it may not be a whole number, or too large to count.
std::size_t checked_count(double n, const char* what) {
  FMBEM_REQUIRE(n >= 2 && n <= static_cast<double>(most_points) && n == std::floor(n),
                what << " has 2 to " << double(most_points) << " points, not " << n);
  return static_cast<std::size_t>(n);
}

void refuse_many(double n) {
  FMBEM_REQUIRE(n <= static_cast<double>(most_points),
                n << " points are too many: use at most " << double(most_points));
}

/// Lengths below this have squares that are 0.
constexpr double smallest_edge = 1e-150;

/// The step from an edge's start to the i-th of n points. It multiplies first, so that whole
/// numbers stay exact.
Vec3d step(Vec3d edge, std::size_t i, std::size_t n) {
  return static_cast<double>(i) * edge / static_cast<double>(n - 1);
}

void require_near(Vec3d x) {
  for (int axis = 0; axis < 3; ++axis)
    FMBEM_REQUIRE(std::abs(x[axis]) <= largest_length,
                  "the point " << place(x) << " is too far away: keep coordinates below 1e30");
}

}  // namespace

PointSet scattered_points(std::vector<Vec3d> points) {
  refuse_many(static_cast<double>(points.size()));
  for (const Vec3d& x : points) require_near(x);
  return {std::move(points)};
}

PointSet points_on_line(Vec3d a, Vec3d b, double n) {
  const std::size_t count = checked_count(n, "a line");
  require_near(a);
  require_near(b);
  FMBEM_REQUIRE(norm(b - a) > smallest_edge,
                "the line's ends are one point, " << place(a) << ": give two points");
  PointSet set{{}, PointCells::segments};
  set.points.reserve(count);
  for (std::size_t i = 0; i + 1 < count; ++i) set.points.push_back(a + step(b - a, i, count));
  set.points.push_back(b);
  return set;
}

PointSet points_on_plane(Vec3d corner, Vec3d u, Vec3d v, double nu, double nv) {
  const std::size_t columns = checked_count(nu, "an edge of a plane");
  const std::size_t rows = checked_count(nv, "an edge of a plane");
  refuse_many(nu * nv);
  for (const Vec3d& x : {corner, corner + u, corner + v, corner + u + v}) require_near(x);
  for (const Vec3d& edge : {u, v})
    FMBEM_REQUIRE(norm(edge) > smallest_edge,
                  "the plane's edge " << place(edge) << " has no length: give two edges");
  FMBEM_REQUIRE(norm(cross(u / norm(u), v / norm(v))) > 1e-12,
                "the plane's edges " << place(u) << " and " << place(v)
                                     << " are parallel: give two directions");
  PointSet set{{}, PointCells::quadrangles, columns, rows};
  set.points.reserve(columns * rows);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < columns; ++i)
      set.points.push_back(corner + step(u, i, columns) + step(v, j, rows));
  return set;
}

PointSet points_in_box(Vec3d min, Vec3d max, double nx, double ny, double nz) {
  const std::size_t n[] = {checked_count(nx, "a side of a box"),
                           checked_count(ny, "a side of a box"),
                           checked_count(nz, "a side of a box")};
  refuse_many(nx * ny * nz);
  require_near(min);
  require_near(max);
  for (int axis = 0; axis < 3; ++axis)
    FMBEM_REQUIRE(max[axis] - min[axis] > smallest_edge,
                  "the box from " << place(min) << " to " << place(max)
                                  << " has no volume: give the corner with the smaller "
                                     "coordinates first");
  PointSet set{{}, PointCells::hexahedra, n[0], n[1]};
  set.points.reserve(n[0] * n[1] * n[2]);
  for (std::size_t k = 0; k < n[2]; ++k)
    for (std::size_t j = 0; j < n[1]; ++j)
      for (std::size_t i = 0; i < n[0]; ++i)
        set.points.push_back(min + step({max.x - min.x, 0, 0}, i, n[0]) +
                             step({0, max.y - min.y, 0}, j, n[1]) +
                             step({0, 0, max.z - min.z}, k, n[2]));
  return set;
}

PointSet points_on_cut(Vec3d min, Vec3d max, int axis, double at, std::size_t n,
                       const Reach& reach) {
  const Vec3d size = max - min;
  const double more = std::max({size.x, size.y, size.z}) / 3;
  const int across = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2;
  for (int k = 0; k < 3; ++k) {
    min[k] = std::max(min[k] - more, reach.min[k]);
    max[k] = std::min(max[k] + more, reach.max[k]);
  }
  Vec3d corner = min, u{}, v{};
  corner[axis] = at;
  u[across] = max[across] - min[across];
  v[up] = max[up] - min[up];
  const double spacing = std::max(u[across], v[up]) / double(n - 1);
  const auto count = [&](double side) { return std::max(2.0, std::round(side / spacing) + 1); };
  return points_on_plane(corner, u, v, count(u[across]), count(v[up]));
}

std::array<Vec3d, 3> steps_of(const PointSet& grid) {
  std::array<Vec3d, 3> steps{};
  const std::size_t strides[] = {1, grid.columns, grid.columns * grid.rows};
  for (std::size_t k = 0; k < 3; ++k)
    if (strides[k] > 0 && strides[k] < grid.points.size())
      steps[k] = grid.points[strides[k]] - grid.points[0];
  return steps;
}

std::size_t points_of_cell(PointCells cells) {
  switch (cells) {
    case PointCells::single:
      return 1;
    case PointCells::segments:
      return 2;
    case PointCells::quadrangles:
      return 4;
    case PointCells::hexahedra:
      return 8;
  }
  return 0;
}

std::vector<std::int64_t> connectivity(const PointSet& set) {
  const auto n = static_cast<std::int64_t>(set.points.size());
  const auto columns = static_cast<std::int64_t>(set.columns);
  std::vector<std::int64_t> result;
  switch (set.cells) {
    case PointCells::single:
      result.resize(set.points.size());
      std::iota(result.begin(), result.end(), 0);
      break;
    case PointCells::segments:
      for (std::int64_t i = 0; i + 1 < n; ++i) result.insert(result.end(), {i, i + 1});
      break;
    case PointCells::quadrangles:
      for (std::int64_t row = 0; row + columns < n; row += columns)
        for (std::int64_t i = row; i + 1 < row + columns; ++i)
          result.insert(result.end(), {i, i + 1, i + columns + 1, i + columns});
      break;
    case PointCells::hexahedra: {
      const auto layer = columns * static_cast<std::int64_t>(set.rows);
      for (std::int64_t below = 0; below + layer < n; below += layer)
        for (std::int64_t row = below; row + columns < below + layer; row += columns)
          for (std::int64_t i = row; i + 1 < row + columns; ++i)
            for (const std::int64_t k : {i, i + layer})
              result.insert(result.end(), {k, k + 1, k + columns + 1, k + columns});
      break;
    }
  }
  return result;
}

}  // namespace fmbem
