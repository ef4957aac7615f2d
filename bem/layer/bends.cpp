#include "fmbem/bem/layer/bends.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "fmbem/bem/near/dipole_field.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/meshes/distance.hpp"

namespace fmbem {
namespace {

/// A quarter of the solid angle of the directions in the spherical triangle of three unit vectors,
/// over π, with the sign of their determinant [Van Oosterom and Strackee 1983].
double part_of_sphere(Vec3d a, Vec3d b, Vec3d c) {
  return 2 * inv_4pi * std::atan2(dot(a, cross(b, c)), 1 + dot(a, b) + dot(b, c) + dot(c, a));
}

/// What panels that touch a point make of the sphere of directions from it: each passes along an
/// arc, with its positive side on the left.
class DirectionsAbout {
 public:
  void add(const Triangle& t, double mu, Vec3d x, double tolerance) {
    const double part = part_about(t, x, tolerance);
    parts_ += part;
    density_ += part * mu;
    for (int k = 0; k < 3; ++k)
      if (norm(x - t.vertex[k]) <= tolerance) {
        add_arc(t.tangent[k], -1.0 * t.tangent[(k + 2) % 3]);
        return;
      }
    for (int k = 0; k < 3; ++k)
      if (is_on_edge(t, k, x, tolerance)) {
        const Vec3d inward = cross(t.normal, t.tangent[k]);
        add_arc(t.tangent[k], inward);
        add_arc(inward, -1.0 * t.tangent[k]);
        return;
      }
  }

  /// Whether the arcs end where they begin.
  bool close() const { return parts_ > 0 && norm(ends_) < 1e-6; }
  /// The part of the sphere on the positive side.
  double positive_part() const {
    const double part = std::fmod(swept_, 1.0);
    return part < 0 ? part + 1 : part;
  }
  double mean_density() const { return density_ / parts_; }
  /// What the panels add where each has its part of the jump.
  double shared_out() const { return density_; }

 private:
  void add_arc(Vec3d from, Vec3d to) {
    // Any direction serves that is not opposite to a point of an arc: (1, √2, √3) over √6.
    constexpr Vec3d pole{0.4082482904638630, 0.5773502691896258, 0.7071067811865476};
    swept_ += part_of_sphere(pole, from, to);
    ends_ += to - from;
  }

  double parts_ = 0, density_ = 0, swept_ = 0;
  Vec3d ends_{};
};

BodyTree tree_of(const Panels& panels) {
  std::vector<BodyTree::Item> items(panels.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Triangle t = panels.triangle(i);
    items[i] = {{t.vertex[0], t.vertex[1], t.vertex[2]}, static_cast<int>(i)};
  }
  return BodyTree(std::move(items));
}

}  // namespace

void set_limits_at_bends(const Panels& panels, std::span<const double> mu,
                         std::span<const Vec3d> points, Side side, Field& field) {
  const std::vector<std::int32_t> at_bends =
      numbers_where(static_cast<std::int64_t>(points.size()),
                    [&](std::int64_t i) { return std::isnan(field.e[i].x); });
  if (at_bends.empty()) return;
  const BodyTree tree = tree_of(panels);
  const double sign = side == Side::mean ? 0 : side == Side::positive ? 0.5 : -0.5;
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t k = 0; k < at_bends.size(); ++k) {
    const Vec3d x = points[at_bends[k]] - panels.origin;
    const double tolerance = surface_rounding(panels, x);
    DirectionsAbout about;
    for (const int j : tree.within(x, 4 * tolerance)) {
      const Triangle t = panels.triangle(j);
      if (on_triangle(t, x, tolerance)) about.add(t, mu[j], x, tolerance);
    }
    if (!about.close()) continue;
    field.potential[at_bends[k]] +=
        (0.5 - about.positive_part() + sign) * about.mean_density() - sign * about.shared_out();
  }
}

}  // namespace fmbem
