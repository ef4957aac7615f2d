#include "fmbem/problems/media.hpp"

#include <cmath>

namespace fmbem {
namespace {

/// r₁ + r₂ and its gradient at x.
struct FociView {
  FociView(const LineCharge& line, Vec3d x)
      : length(norm(line.to - line.from)),
        sum(norm(x - line.from) + norm(x - line.to)),
        gradient((x - line.from) / norm(x - line.from) + (x - line.to) / norm(x - line.to)) {}
  double length, sum;
  Vec3d gradient;
};

/// ∇_p of triangle_double_layer(t, p), the magnetic field of a current round the panel [Biot and
/// Savart; of a straight piece from a to b: (a × b)(|a| + |b|)/(|a| |b| (|a| |b| + a·b))].
Vec3d gradient_of_double_layer(const Triangle& t, Vec3d p) {
  Vec3d sum{};
  for (int k = 0; k < 3; ++k) {
    const Vec3d a = t.vertex[k] - p, b = t.vertex[(k + 1) % 3] - p;
    const double ab = norm(a) * norm(b);
    sum += (norm(a) + norm(b)) / (ab * (ab + dot(a, b))) * cross(a, b);
  }
  return -inv_4pi * sum;
}

}  // namespace

double AppliedField::potential(Vec3d x, double scale_to_m) const {
  const double per_length = inv_4pi / (unit * scale_to_m);
  double sum = -scale_to_m * dot(uniform, x - zero);
  for (const PointCharge& q : charges)
    sum += per_length * q.charge / (q.permittivity * norm(x - q.place));
  for (const PointDipole& p : dipoles) {
    const Vec3d d = x - p.place;
    sum += per_length / scale_to_m * dot(p.moment, d) / (p.permittivity * norm2(d) * norm(d));
  }
  for (const LineCharge& line : lines) {
    const FociView view(line, x);
    sum += per_length * line.charge / (line.permittivity * view.length) *
           std::log1p(2 * view.length / (view.sum - view.length));
  }
  return sum;
}

Vec3d AppliedField::field(Vec3d x, double scale_to_m) const {
  const double per_square = inv_4pi / (unit * scale_to_m * scale_to_m);
  Vec3d sum = uniform;
  for (const PointCharge& q : charges) {
    const Vec3d d = x - q.place;
    sum += per_square * q.charge / (q.permittivity * norm2(d) * norm(d)) * d;
  }
  for (const PointDipole& p : dipoles) {
    const Vec3d d = x - p.place;
    const double r2 = norm2(d);
    sum += per_square / scale_to_m / (p.permittivity * r2 * std::sqrt(r2)) *
           (3 * dot(p.moment, d) / r2 * d - p.moment);
  }
  for (const LineCharge& line : lines) {
    const FociView view(line, x);
    sum += 2 * per_square * line.charge /
           (line.permittivity * (view.sum - view.length) * (view.sum + view.length)) *
           view.gradient;
  }
  return sum;
}

double AppliedField::mean_flux(const Triangle& panel, Vec3d origin, double scale_to_m) const {
  const double per_area = 1 / (unit * scale_to_m * panel.area);
  double flux = -scale_to_m * dot(uniform, panel.normal);
  for (const PointCharge& q : charges)
    flux += per_area * q.charge / q.permittivity * triangle_double_layer(panel, q.place - origin);
  for (const PointDipole& p : dipoles)
    flux += per_area / (scale_to_m * p.permittivity) *
            dot(p.moment, gradient_of_double_layer(panel, p.place - origin));
  if (lines.empty()) return flux;
  AppliedField of_lines{.lines = lines, .unit = unit};
  for (const Vec3d& corner : panel.vertex) {
    const Vec3d x = 0.5 * (corner + panel.centroid) + origin;
    flux -= scale_to_m / 3 * dot(of_lines.field(x, scale_to_m), panel.normal);
  }
  return flux;
}

}  // namespace fmbem
