#include "fmbem/problems/media.hpp"

#include <cmath>

#include "fmbem/problems/capacitance.hpp"

namespace fmbem {
namespace {

/// Of a charge, in V times the mesh's unit of length: q/(4πε₀ε_r).
double strength(const PointCharge& q, double scale_to_m) {
  return q.charge / (natural_capacitance(scale_to_m) * q.permittivity);
}

}  // namespace

double AppliedField::potential(Vec3d x, double scale_to_m) const {
  double sum = -scale_to_m * dot(uniform, x);
  for (const PointCharge& q : charges) sum += strength(q, scale_to_m) / norm(x - q.place);
  return sum;
}

Vec3d AppliedField::field(Vec3d x, double scale_to_m) const {
  Vec3d sum = uniform;
  for (const PointCharge& q : charges) {
    const Vec3d d = x - q.place;
    sum += strength(q, scale_to_m) / scale_to_m / (norm2(d) * norm(d)) * d;
  }
  return sum;
}

Symmetric3d AppliedField::gradient(Vec3d x, double scale_to_m) const {
  Symmetric3d sum;
  for (const PointCharge& q : charges) {
    const Vec3d d = x - q.place;
    const double r2 = norm2(d), factor = strength(q, scale_to_m) / (scale_to_m * scale_to_m) /
                                         (r2 * r2 * std::sqrt(r2));
    sum += factor * Symmetric3d{r2 - 3 * d.x * d.x, -3 * d.x * d.y, -3 * d.x * d.z,
                                r2 - 3 * d.y * d.y, -3 * d.y * d.z, r2 - 3 * d.z * d.z};
  }
  return sum;
}

}  // namespace fmbem
