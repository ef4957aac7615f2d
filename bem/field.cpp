#include "fmbem/bem/field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fmbem/bem/panel_integrals.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// How far off a panel a point that is meant to lie on it can be, after both have been rounded.
double surface_tolerance(const Panels& panels, Vec3d x) {
  return 4 * std::numeric_limits<double>::epsilon() *
         (panels.extent + norm(panels.origin) + norm(x));
}

Vec3d field_of_panel(const Triangle& t, Vec3d x, double tolerance, Side side) {
  Vec3d e = -panel_gradient(t, x, tolerance);
  if (side != Side::mean && on_triangle(t, x, tolerance))
    e += (side == Side::positive ? 0.5 : -0.5) * t.normal;
  return e;
}

}  // namespace

Field evaluate_field(const Panels& panels, std::span<const double> sigma,
                     std::span<const Vec3d> points, Side side) {
  FMBEM_REQUIRE(sigma.size() == panels.size(),
                "there are " << panels.size() << " panels, but " << sigma.size() << " densities");
  for (std::size_t i = 0; i < points.size(); ++i)
    FMBEM_REQUIRE(std::isfinite(norm2(points[i])), "point " << i << " is not finite");

  Field field;
  field.potential.resize(points.size());
  field.e.resize(points.size());
  const auto n = static_cast<std::int64_t>(points.size());
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t i = 0; i < n; ++i) {
    const Vec3d x = points[i] - panels.origin;
    const double tolerance = surface_tolerance(panels, x);
    for (std::size_t j = 0; j < panels.size(); ++j) {
      field.potential[i] += sigma[j] * panel_potential(panels.triangle[j], x);
      field.e[i] += sigma[j] * field_of_panel(panels.triangle[j], x, tolerance, side);
    }
  }
  field.singular_points =
      std::count_if(field.e.begin(), field.e.end(), [](Vec3d e) { return std::isnan(norm2(e)); });
  return field;
}

}  // namespace fmbem
