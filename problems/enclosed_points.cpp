#include "fmbem/problems/enclosed_points.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem {
namespace {

/// Rays go along this vector and a unit in z, which edges and panels of a mesh have by chance only.
constexpr double slant_x = 0.2718281828, slant_y = 0.1414213562;

/// So sheared that rays go along z. Volumes stay, and so does the side of a panel a point is on.
Vec3d sheared(Vec3d p) { return {p.x - slant_x * p.z, p.y - slant_y * p.z, p.z}; }

/// Points in cells of a plane, some one in each.
class Cells {
 public:
  explicit Cells(std::span<const Vec3d> points)
      : along_axis_(static_cast<int>(std::ceil(std::sqrt(static_cast<double>(points.size()))))) {
    const auto n = static_cast<std::int64_t>(points.size());
    all_ = coordinate_bounds(n, [&](std::int64_t k) { return points[k]; });
    order_ = sort_by_group(n, std::int64_t{along_axis_} * along_axis_, [&](std::int64_t k) {
      return along_axis_ * cell(points[k].y, 1) + cell(points[k].x, 0);
    });
  }

  /// Calls body(k) for points in cells that a box meets.
  template <class Body>
  void for_points_in(const CoordinateBounds& box, Body&& body) const {
    for (int axis = 0; axis < 2; ++axis)
      if (box.low[axis] > all_.high[axis] || box.high[axis] < all_.low[axis]) return;
    const int first = cell(box.low.x, 0), last = cell(box.high.x, 0);
    for (int row = cell(box.low.y, 1); row <= cell(box.high.y, 1); ++row) {
      const std::int32_t* const begin = order_.begin.data() + along_axis_ * row;
      for (std::int32_t at = begin[first]; at < begin[last + 1]; ++at) body(order_.number[at]);
    }
  }

 private:
  /// Never falls where x grows.
  int cell(double x, int axis) const {
    const double extent = all_.high[axis] - all_.low[axis];
    const double place = extent > 0 ? along_axis_ * ((x - all_.low[axis]) / extent) : 0;
    return static_cast<int>(std::clamp(place, 0.0, along_axis_ - 1.0));
  }

  int along_axis_;
  CoordinateBounds all_;
  GroupOrder order_;
};

/// 1 if the edge passes p, in the plane, upward on its right, −1 if downward, else 0.
int passes(Vec3d from, Vec3d to, Vec3d p) {
  const bool is_up = to.y > p.y;
  if ((from.y > p.y) == is_up) return 0;
  const Vec3d &low = is_up ? from : to, &high = is_up ? to : from;
  const bool is_right = (high.x - low.x) * (p.y - low.y) > (p.x - low.x) * (high.y - low.y);
  return !is_right ? 0 : is_up ? 1 : -1;
}

}  // namespace

std::vector<char> enclosed_points(const Panels& panels, std::span<const std::int32_t> surface,
                                  std::span<const Vec3d> points) {
  std::vector<char> result(points.size());
  if (points.empty()) return result;
  std::vector<Vec3d> from;
  for (const Vec3d& x : points) from.push_back(sheared(x));
  const Cells cells(from);
  std::vector<int> leaves(points.size());  // less how often the ray enters
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < surface.size(); ++k) {
    const auto vertex = [&](int corner) { return sheared(panels.vertex(surface[k], corner)); };
    const Vec3d a = vertex(0), b = vertex(1), c = vertex(2);
    CoordinateBounds box{a, a};
    box.add(b);
    box.add(c);
    cells.for_points_in(box, [&](std::int32_t i) {
      const Vec3d p = from[i];
      const int winding = passes(a, b, p) + passes(b, c, p) + passes(c, a, p);
      if (winding != 0 && winding * dot(cross(b - a, c - a), a - p) > 0)
        std::atomic_ref(leaves[i]).fetch_add(winding, std::memory_order_relaxed);
    });
  }
  for (std::size_t i = 0; i < points.size(); ++i) result[i] = leaves[i] > 0;
  return result;
}

}  // namespace fmbem
