#include "fmbem/problems/media.hpp"

#include <cmath>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/capacitance.hpp"

namespace fmbem {
namespace {

/// Of a charge, in V times the mesh's unit of length: q/(4πε₀ε_r).
double strength(const PointCharge& q, double scale_to_m) {
  return q.charge / (natural_capacitance(scale_to_m) * q.permittivity);
}

}  // namespace

double AppliedField::potential(Vec3d x, double scale_to_m) const {
  double sum = -scale_to_m * dot(uniform, x - zero);
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

AppliedField with_images(const AppliedField& applied, const Panels& panels) {
  if (!panels.images) return applied;
  AppliedField result = applied;
  for (const int axis : panels.images->planes.axes()) {
    const SymmetryPlane& plane = *panels.images->planes.at[axis];
    const bool is_ground = plane.kind == PlaneKind::ground;
    for (int other = 0; other < 3; ++other)
      FMBEM_REQUIRE(applied.uniform[other] == 0 || is_ground == (other == axis),
                    "a uniform field along "
                        << "xyz"[other] << " cannot be at the " << name(plane.kind) << " plane "
                        << "xyz"[axis] << ": it has to be " << (is_ground ? "across" : "along")
                        << " that plane");
    if (is_ground) result.zero[axis] = plane.offset;
    for (const PointCharge& q : applied.charges)
      FMBEM_REQUIRE((q.place[axis] - plane.offset) * (panels.origin[axis] - plane.offset) > 0,
                    "the point charge at " << place(q.place) << " is not on the mesh's side of the "
                                           << name(plane.kind) << " plane "
                                           << "xyz"[axis] << " = " << decimal(plane.offset)
                                           << ": put it there");
  }
  const std::vector<Reflection> reflections = panels.images->planes.reflections();
  for (const PointCharge& q : applied.charges)
    for (std::size_t m = 1; m < reflections.size(); ++m)
      result.charges.push_back(
          {reflections[m].point(q.place), reflections[m].sign * q.charge, q.permittivity});
  return result;
}

}  // namespace fmbem
