#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/outline.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/pictures/make_scene.hpp"

namespace fmbem {
namespace {

constexpr int n_equipotentials = 10;
constexpr const char* axis_names[] = {"x", "y", "z"};

/// The axis along which a vector points, in either direction; 3 if it is oblique.
int axis_of(Vec3d direction) {
  for (int axis = 0; axis < 3; ++axis)
    if (std::abs(direction[axis]) > (1 - 1e-9) * norm(direction)) return axis;
  return 3;
}

/// How a plane of two edges lies in the picture: along axes where it can, with these upwards.
void set_view(Scene& scene, Vec3d corner, Vec3d u, Vec3d v) {
  const Vec3d edges[] = {u, v};
  Vec3d along[2];
  for (const int k : {0, 1}) {
    const int axis = axis_of(edges[k]);
    along[k] = edges[k] / norm(edges[k]);
    if (axis < 3) along[k] = along[k] * along[k][axis];  // upwards, whichever way the edge runs
    scene.axes[k] = axis < 3 ? axis_names[axis] : k == 0 ? "along u" : "across u";
    if (axis == 3) scene.origin = corner;
  }
  const Vec3d across = along[1] - dot(along[1], along[0]) * along[0];
  scene.view = {along[0], across / norm(across), {}};
  scene.view.toward = cross(scene.view.right, scene.view.up);
}

/// Where nothing is solved for: there is no potential. A field may be infinite at single points.
std::vector<bool> empty_points(const Result& plane, const ResultArray& array) {
  std::vector<bool> is_empty(plane.points.size(), false);
  for (const ResultArray& potential : plane.arrays)
    if (potential.quantity == Quantity::potential && potential.of == array.of)
      for (std::size_t i = 0; i < is_empty.size(); ++i)
        is_empty[i] = std::isnan(potential.values[i]);
  return is_empty;
}

/// The finite values at a point's neighbours that are not empty.
std::vector<double> values_beside(std::size_t point, const std::vector<double>& values,
                                  const std::vector<bool>& is_empty, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  const std::size_t row = point / columns, column = point % columns;
  std::vector<double> beside;
  for (std::size_t r = row - (row > 0); r <= std::min(row + 1, rows - 1); ++r)
    for (std::size_t c = column - (column > 0); c <= std::min(column + 1, columns - 1); ++c)
      if (const std::size_t k = r * columns + c; !is_empty[k] && std::isfinite(values[k]))
        beside.push_back(values[k]);
  return beside;
}

/// Gives points without a value one. An empty point has the mean of its neighbours that are not, so
/// that colours reach up to surfaces. Elsewhere the field is infinite, at an edge, and has the
/// largest value beside it: a mean would be a pale spot where the field is strongest.
void fill(std::vector<double>& values, const std::vector<bool>& is_empty, std::size_t columns) {
  const std::vector<double> given = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(given[i])) continue;
    const std::vector<double> beside = values_beside(i, given, is_empty, columns);
    if (beside.empty())
      values[i] = is_empty[i] ? NAN : INFINITY;
    else if (is_empty[i])
      values[i] = std::accumulate(beside.begin(), beside.end(), 0.0) / double(beside.size());
    else
      values[i] = *std::max_element(beside.begin(), beside.end());
  }
}

/// At its ends without the other value, which may be unknown.
double interpolated(double a, double b, double t) {
  return t == 0 ? a : t == 1 ? b : (1 - t) * a + t * b;
}

}  // namespace

Scene plane_scene(const Result& plane, const ResultArray& array) {
  Scene scene;
  scene.flat = true;
  scene.at_points = true;
  scene.points = plane.points;
  scene.length_unit = plane.length_unit == "um" ? "µm" : plane.length_unit;
  const std::size_t columns = plane.n[0], rows = plane.n[1];
  scene.columns = columns;
  const std::vector<Vec3d>& x = plane.points;
  const std::vector<bool> is_empty = empty_points(plane, array);
  set_view(scene, x[0], x[columns - 1] - x[0], x[x.size() - columns] - x[0]);
  for (std::size_t row = 0; row + 1 < rows; ++row)
    for (std::size_t i = row * columns; i + 1 < (row + 1) * columns; ++i) {
      const int a = int(i), b = a + 1, c = int(i + columns), d = c + 1;
      for (const std::array<int, 3>& triangle : {std::array{a, b, d}, std::array{a, d, c}})
        if (!std::all_of(triangle.begin(), triangle.end(),
                         [&](int corner) { return is_empty[std::size_t(corner)]; }))
          scene.triangles.push_back(triangle);
    }
  for (std::size_t i = 0; i < x.size(); ++i) scene.values.push_back(array.magnitude(i));
  fill(scene.values, is_empty, columns);
  const auto e = std::find_if(plane.arrays.begin(), plane.arrays.end(), [&](const ResultArray& a) {
    return a.quantity == Quantity::field && a.of == array.of;
  });
  if (e != plane.arrays.end())
    scene.lines.push_back({dark_grey, 1, 0.45, field_lines(scene, e->values, plane.outline)});
  if (array.quantity == Quantity::potential) {
    double min = std::numeric_limits<double>::infinity(), max = -min;
    for (const double value : scene.values)
      if (std::isfinite(value)) {
        min = std::min(min, value);
        max = std::max(max, value);
      }
    std::vector<double> levels;
    for (int k = 1; k <= n_equipotentials && !is_one_value(min, max); ++k)
      levels.push_back(interpolated(min, max, k / (n_equipotentials + 1.0)));
    scene.lines.push_back({black, 1.3, 0.85, level_lines(scene, levels)});
  }
  const auto add_lines = [&](double width, const std::vector<std::array<Vec3d, 2>>& segments) {
    if (segments.empty()) return;
    LineSet lines{black, width, 1, {}};
    for (const auto& [a, b] : segments) lines.paths.push_back({a, b});
    scene.lines.push_back(std::move(lines));
  };
  add_lines(1.6, plane.interface);
  add_lines(3, plane.outline);
  return scene;
}

Result cut_box(const Result& box, const Cut& cut, const std::string& name) {
  const std::size_t strides[] = {1, box.n[0], box.n[0] * box.n[1]};
  const auto edge = [&](std::size_t k) {
    return box.points[strides[k] * (box.n[k] - 1)] - box.points[0];
  };
  std::size_t across = 0;
  while (across < 3 && axis_of(edge(across)) != cut.axis) ++across;
  FMBEM_REQUIRE(across < 3, name << " holds a box whose edges are oblique: it cannot be cut across "
                                 << axis_names[cut.axis]);
  const double first = box.points[0][cut.axis], last = first + edge(across)[cut.axis];
  const auto layers = double(box.n[across] - 1);
  const double at = (cut.at - first) / (last - first) * layers;
  FMBEM_REQUIRE(at >= -1e-9 * layers && at <= layers * (1 + 1e-9),
                "the cut " << axis_names[cut.axis] << "=" << decimal(cut.at)
                           << " does not meet the box of " << name << ", which reaches from "
                           << decimal(std::min(first, last)) << " to "
                           << decimal(std::max(first, last)));
  const auto layer = std::size_t(std::clamp(std::floor(at), 0.0, layers - 1));
  const double nearest = std::round(at),
               t = (std::abs(at - nearest) < 1e-9 * layers ? nearest : at) - double(layer);

  const std::size_t u = across == 0 ? 1 : 0, v = across == 2 ? 1 : 2;
  Result plane;
  plane.n = {box.n[u], box.n[v], 1};
  plane.length_unit = box.length_unit;
  for (const ResultArray& array : box.arrays) {
    plane.arrays.push_back(array);
    plane.arrays.back().values.clear();
  }
  for (std::size_t j = 0; j < box.n[v]; ++j)
    for (std::size_t i = 0; i < box.n[u]; ++i) {
      const std::size_t a = layer * strides[across] + i * strides[u] + j * strides[v];
      const std::size_t b = a + strides[across];
      plane.points.push_back((1 - t) * box.points[a] + t * box.points[b]);
      for (std::size_t k = 0; k < box.arrays.size(); ++k) {
        const ResultArray& array = box.arrays[k];
        const auto n = std::size_t(array.components);
        for (std::size_t c = 0; c < n; ++c)
          plane.arrays[k].values.push_back(
              interpolated(array.values[n * a + c], array.values[n * b + c], t));
      }
    }
  SurfaceMesh walls;
  for (const auto& corners : box.walls) {
    const int n = int(walls.vertices.size());
    walls.vertices.insert(walls.vertices.end(), corners.begin(), corners.end());
    walls.triangles.push_back({n, n + 1, n + 2});
  }
  plane.outline = outline_on_plane(walls, plane.points[0], edge(u), edge(v));
  return plane;
}

}  // namespace fmbem
