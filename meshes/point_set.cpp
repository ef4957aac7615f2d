#include "fmbem/meshes/point_set.hpp"

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
  PointSet set{{}, PointCells::quadrangles, columns};
  set.points.reserve(columns * rows);
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < columns; ++i)
      set.points.push_back(corner + step(u, i, columns) + step(v, j, rows));
  return set;
}

std::size_t points_of_cell(PointCells cells) {
  return cells == PointCells::single ? 1 : cells == PointCells::segments ? 2 : 4;
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
  }
  return result;
}

}  // namespace fmbem
