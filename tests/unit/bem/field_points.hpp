#pragma once

// Points about panels, and how far fields are off there.
#include <cmath>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test {

/// n points at distances of 10^from to 10 extents from panels; then some on panels, and many at one
/// place.
inline std::vector<Vec3d> points_about(const Panels& panels, std::size_t n, double from = -8) {
  Uniform uniform(1);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < n; ++i) {
    const Triangle t = panels.triangle(static_cast<std::size_t>(uniform(0, 0.999) * panels.size()));
    const double distance = panels.extent * std::pow(10, uniform(from, 1));
    points.push_back(panels.origin + t.centroid + distance * sphere_point(uniform));
  }
  for (std::size_t k = 0; k < panels.size(); k += 40)
    points.push_back(panels.origin + panels.centroid(k));
  points.insert(points.end(), 100, panels.origin + Vec3d{0.11, 0.02, 0.03});
  return points;
}

struct FieldErrors {
  double potential, e;
};
/// Root mean square errors, relative to those of `whole`.
inline FieldErrors errors_of(const Field& field, const Field& exact, const Field& whole) {
  double error[2] = {}, size[2] = {};
  for (std::size_t i = 0; i < field.potential.size(); ++i) {
    error[0] += std::pow(field.potential[i] - exact.potential[i], 2);
    size[0] += std::pow(whole.potential[i], 2);
    error[1] += norm2(field.e[i] - exact.e[i]);
    size[1] += norm2(whole.e[i]);
  }
  return {std::sqrt(error[0] / size[0]), std::sqrt(error[1] / size[1])};
}

}  // namespace fmbem::test
