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

}  // namespace fmbem
