#include "fmbem/meshes/outline.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// A place on the parallelogram, in parts of its edges.
struct Place {
  double u, v;
};

/// What of a segment lies in the unit square (Liang & Barsky 1984).
std::optional<std::array<Place, 2>> clipped(Place a, Place b) {
  double from = 0, to = 1;
  const auto keep = [&](double start, double slope) {  // 0 ≤ start + t slope ≤ 1
    if (slope == 0) {
      if (start < 0 || start > 1) to = -1;
      return;
    }
    const double s = -start / slope, t = (1 - start) / slope;
    from = std::max(from, std::min(s, t));
    to = std::min(to, std::max(s, t));
  };
  keep(a.u, b.u - a.u);
  keep(a.v, b.v - a.v);
  if (from >= to) return {};
  const auto at = [&](double t) { return Place{a.u + t * (b.u - a.u), a.v + t * (b.v - a.v)}; };
  return {{at(from), at(to)}};
}

}  // namespace

std::vector<std::array<Vec3d, 2>> outline_on_plane(const SurfaceMesh& mesh, Vec3d corner, Vec3d u,
                                                   Vec3d v) {
  // Reciprocal vectors: dot(x − corner, ru) is the part of u in x − corner.
  const Vec3d n = cross(u, v);
  const double area2 = dot(n, n);
  const Vec3d ru = cross(v, n) / area2, rv = cross(n, u) / area2;
  std::vector<double> height(mesh.vertices.size());
  double highest = 0;
  for (std::size_t i = 0; i < height.size(); ++i) {
    height[i] = dot(mesh.vertices[i] - corner, n);
    highest = std::max(highest, std::abs(height[i]));
  }
  // What lies in the plane but for rounding, as at a mirror, touches it.
  for (double& h : height)
    if (std::abs(h) <= 1e-12 * highest) h = 0;

  std::vector<std::array<Vec3d, 2>> outline;
  for (const std::array<int, 3>& triangle : mesh.triangles) {
    Vec3d ends[2];
    int found = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = std::size_t(triangle[k]), b = std::size_t(triangle[(k + 1) % 3]);
      if ((height[a] < 0) == (height[b] < 0)) continue;
      const double t = height[a] / (height[a] - height[b]);
      ends[found++] = mesh.vertices[a] + t * (mesh.vertices[b] - mesh.vertices[a]);
    }
    if (found != 2) continue;
    const auto place = [&](Vec3d x) { return Place{dot(x - corner, ru), dot(x - corner, rv)}; };
    if (const auto inside = clipped(place(ends[0]), place(ends[1])))
      outline.push_back({corner + (*inside)[0].u * u + (*inside)[0].v * v,
                         corner + (*inside)[1].u * u + (*inside)[1].v * v});
  }
  return outline;
}

std::vector<std::array<Vec3d, 2>> outline_on_plane(const SurfaceMesh& mesh, const PointSet& plane) {
  FMBEM_REQUIRE(plane.cells == PointCells::quadrangles,
                "an outline is of a mesh on a plane, not on a line or on single points");
  const std::vector<Vec3d>& x = plane.points;
  const std::size_t last_row = x.size() - plane.columns;
  return outline_on_plane(mesh, x[0], x[plane.columns - 1] - x[0], x[last_row] - x[0]);
}

}  // namespace fmbem
