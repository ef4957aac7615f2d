#include "fmbem/meshes/triangle_pair.hpp"

#include <algorithm>
#include <limits>

namespace fmbem {
namespace {

/// By the two shorter sides, whose product cancels least where a triangle is thin.
Vec3d unit_normal(const Corners& t) {
  const std::array side{t[1] - t[0], t[2] - t[1], t[0] - t[2]};
  const std::array length{norm2(side[0]), norm2(side[1]), norm2(side[2])};
  const auto longest = std::max_element(length.begin(), length.end()) - length.begin();
  const Vec3d n = cross(side[(longest + 1) % 3], side[(longest + 2) % 3]);
  return n / norm(n);
}

/// Heights of the corners of t above the plane through `origin` with the unit normal n.
std::array<double, 3> heights(const Corners& t, Vec3d origin, Vec3d n) {
  return {dot(n, t[0] - origin), dot(n, t[1] - origin), dot(n, t[2] - origin)};
}

bool on_both_sides(const std::array<double, 3>& height, double depth) {
  return std::min({height[0], height[1], height[2]}) < -depth &&
         std::max({height[0], height[1], height[2]}) > depth;
}

/// Whether x, above or below the triangle or in it, is more than `depth` inside its edges.
bool inside(Vec3d x, const Corners& t, Vec3d n, double depth) {
  for (int k = 0; k < 3; ++k) {
    const Vec3d edge = t[(k + 1) % 3] - t[k];
    if (!(dot(cross(n, edge), x - t[k]) > depth * norm(edge))) return false;
  }
  return true;
}

/// A point where an edge of the triangle with these heights runs through t.
std::optional<Vec3d> piercing(const Corners& edges, const std::array<double, 3>& height,
                              const Corners& t, Vec3d n, double depth) {
  for (int k = 0; k < 3; ++k) {
    const int l = (k + 1) % 3;
    if (std::min(height[k], height[l]) >= -depth || std::max(height[k], height[l]) <= depth)
      continue;
    const Vec3d x = edges[k] + height[k] / (height[k] - height[l]) * (edges[l] - edges[k]);
    if (inside(x, t, n, depth)) return x;
  }
  return {};
}

void keep_closer(ClosestPoints& least, Vec3d x, Vec3d y) {
  const double distance = norm(x - y);
  if (distance < least.distance) least = {distance, 0.5 * (x + y)};
}

void corners_to_inside(ClosestPoints& least, const Corners& corners, const Corners& t) {
  const Vec3d n = unit_normal(t);
  for (const Vec3d& x : corners)
    if (inside(x, t, n, 0)) keep_closer(least, x, x - dot(n, x - t[0]) * n);
}

/// The closest points p + s·u and q + t·v of two edges, s and t from 0 to 1.
void edge_to_edge(ClosestPoints& least, Vec3d p, Vec3d u, Vec3d q, Vec3d v) {
  const Vec3d n = cross(u, v), pq = q - p;
  // By cross products: u·u v·v − (u·v)² has lost half of the digits where edges are nearly
  // parallel. Of parallel edges any s will do that has a t.
  const double n2 = norm2(n);
  double s = n2 > 0 ? std::clamp(dot(cross(pq, v), n) / n2, 0.0, 1.0) : 0;
  const double t = std::clamp(dot(s * u - pq, v) / norm2(v), 0.0, 1.0);
  s = std::clamp(dot(t * v + pq, u) / norm2(u), 0.0, 1.0);
  keep_closer(least, p + s * u, q + t * v);
}

}  // namespace

bool separated(const Corners& a, const Corners& b, double reach) {
  const auto beside = [reach](const Corners& t, const Corners& plane) {
    const auto height = heights(t, plane[0], unit_normal(plane));
    return std::min({height[0], height[1], height[2]}) > reach ||
           std::max({height[0], height[1], height[2]}) < -reach;
  };
  return beside(a, b) || beside(b, a);
}

std::optional<Vec3d> crossing(const Corners& a, const Corners& b, double depth) {
  const Vec3d na = unit_normal(a);
  const auto height_b = heights(b, a[0], na);
  if (!on_both_sides(height_b, depth)) return {};
  const Vec3d nb = unit_normal(b);
  const auto height_a = heights(a, b[0], nb);
  if (!on_both_sides(height_a, depth)) return {};
  const auto x = piercing(b, height_b, a, na, depth);
  return x ? x : piercing(a, height_a, b, nb, depth);
}

ClosestPoints gap(const Corners& a, const Corners& b) {
  ClosestPoints least{std::numeric_limits<double>::infinity(), {}};
  corners_to_inside(least, a, b);
  corners_to_inside(least, b, a);
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l)
      edge_to_edge(least, a[k], a[(k + 1) % 3] - a[k], b[l], b[(l + 1) % 3] - b[l]);
  return least;
}

double segment_to_triangle(Vec3d from, Vec3d to, const Corners& t) {
  const Vec3d n = unit_normal(t);
  const double a = dot(n, from - t[0]), b = dot(n, to - t[0]);
  if ((a > 0) != (b > 0) && inside(from + a / (a - b) * (to - from), t, n, 0)) return 0;
  ClosestPoints least{std::numeric_limits<double>::infinity(), {}};
  corners_to_inside(least, {from, to, to}, t);
  for (int k = 0; k < 3; ++k) edge_to_edge(least, from, to - from, t[k], t[(k + 1) % 3] - t[k]);
  return least.distance;
}

}  // namespace fmbem
