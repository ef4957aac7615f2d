#include "fmbem/problems/images.hpp"

#include <string>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

std::string named(int axis, const SymmetryPlane& plane) {
  return std::string("the ") + name(plane.kind) + " plane " + "xyz"[axis] + " = " +
         decimal(plane.offset);
}

void check_uniform(Vec3d uniform, int axis, const SymmetryPlane& plane) {
  const bool is_ground = plane.kind == PlaneKind::ground;
  for (int other = 0; other < 3; ++other)
    FMBEM_REQUIRE(uniform[other] == 0 || is_ground == (other == axis),
                  "a uniform field along "
                      << "xyz"[other] << " cannot be at " << named(axis, plane) << ": it has to be "
                      << (is_ground ? "across" : "along") << " that plane");
}

}  // namespace

AppliedField with_images(const AppliedField& applied, const Panels& panels) {
  if (!panels.images) return applied;
  const SymmetryPlanes& planes = panels.images->planes;
  AppliedField result = applied;
  const auto check_place = [&](Vec3d x) {
    for (const int axis : planes.axes()) {
      const double offset = planes.at[axis]->offset;
      FMBEM_REQUIRE((x[axis] - offset) * (panels.origin[axis] - offset) > 0,
                    "the source at " << place(x) << " is not on the mesh's side of "
                                     << named(axis, *planes.at[axis]) << ": put it there");
    }
  };
  for (const int axis : planes.axes()) {
    check_uniform(applied.uniform, axis, *planes.at[axis]);
    if (planes.at[axis]->kind == PlaneKind::ground) result.zero[axis] = planes.at[axis]->offset;
  }
  for (const PointCharge& q : applied.charges) check_place(q.place);
  for (const PointDipole& p : applied.dipoles) check_place(p.place);
  for (const LineCharge& line : applied.lines) {
    check_place(line.from);
    check_place(line.to);
  }
  for (const Reflection& image : planes.reflections()) {
    if (image.is_identity()) continue;
    for (const PointCharge& q : applied.charges)
      result.charges.push_back({image.point(q.place), image.sign * q.charge, q.permittivity});
    for (const PointDipole& p : applied.dipoles)
      result.dipoles.push_back(
          {image.point(p.place), image.sign * image.vector(p.moment), p.permittivity});
    for (const LineCharge& line : applied.lines)
      result.lines.push_back({image.point(line.from), image.point(line.to),
                              image.sign * line.charge, line.permittivity});
  }
  return result;
}

}  // namespace fmbem
