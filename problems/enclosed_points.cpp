#include "fmbem/problems/enclosed_points.hpp"

#include <atomic>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/problems/points_in_cells.hpp"

namespace fmbem {
namespace {

/// Rays go along this vector and a unit in z, which edges and panels of a mesh have by chance only.
constexpr double slant_x = 0.2718281828, slant_y = 0.1414213562;

/// So sheared that rays go along z. Volumes stay, and so does the side of a panel a point is on.
Vec3d sheared(Vec3d p) { return {p.x - slant_x * p.z, p.y - slant_y * p.z, p.z}; }

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
  const PointsInCells cells(from);
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
