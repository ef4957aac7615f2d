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

constexpr Symmetric3d identity{1, 0, 0, 1, 0, 1};

/// f (I + g (a bᵀ + b aᵀ)/2)
Symmetric3d outer_sum(double f, double g, Vec3d a, Vec3d b) {
  const double h = 0.5 * g;
  return f * Symmetric3d{1 + g * a.x * b.x,           h * (a.x * b.y + a.y * b.x),
                         h * (a.x * b.z + a.z * b.x), 1 + g * a.y * b.y,
                         h * (a.y * b.z + a.z * b.y), 1 + g * a.z * b.z};
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

Symmetric3d AppliedField::gradient(Vec3d x, double scale_to_m) const {
  const double per_cube = inv_4pi / (unit * scale_to_m * scale_to_m * scale_to_m);
  Symmetric3d sum;
  for (const PointCharge& q : charges) {
    const Vec3d d = x - q.place;
    sum +=
        outer_sum(per_cube * q.charge / (q.permittivity * norm2(d) * norm(d)), -3 / norm2(d), d, d);
  }
  for (const PointDipole& p : dipoles) {
    // 3 ((m·d) I + m dᵀ + d mᵀ)/r⁵ − 15 (m·d) d dᵀ/r⁷
    const Vec3d d = x - p.place;
    const double r2 = norm2(d), along = dot(p.moment, d),
                 factor = 3 * per_cube / (scale_to_m * p.permittivity * r2 * r2 * std::sqrt(r2));
    sum += outer_sum(factor * along, -5 / r2, d, d);
    sum += factor * (outer_sum(1, 2, p.moment, d) - identity);
  }
  for (const LineCharge& line : lines) {
    // E = c g/(s² − l²), s = r₁ + r₂, g = ∇s
    const FociView view(line, x);
    const double c = 2 * per_cube * line.charge / line.permittivity,
                 square = (view.sum - view.length) * (view.sum + view.length);
    for (const Vec3d end : {line.from, line.to}) {
      const Vec3d d = x - end;
      sum += outer_sum(c / (square * norm(d)), -1 / norm2(d), d, d);
    }
    sum += -2 * c * view.sum / (square * square) *
           (outer_sum(1, 1, view.gradient, view.gradient) - identity);
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
