#pragma once

// What tests of Yukawa's operators share.
#include <cmath>
#include <numbers>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test {

inline OperatorOptions with(OperatorOptions::Choice kind, double kappa, double tolerance = 1e-7) {
  OperatorOptions options;
  options.kind = kind;
  options.kappa = kappa;
  options.tolerance = tolerance;
  return options;
}
inline constexpr auto dense = OperatorOptions::Choice::dense, fast = OperatorOptions::Choice::fmm;

/// A torus of radii 1 and 0.4.
inline SurfaceMesh torus(int around, int across) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "torus");
  const double pi = std::numbers::pi;
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      const double u = 2 * pi * i / around, v = 2 * pi * j / across, r = 1 + 0.4 * std::cos(v);
      add_vertex(mesh, {r * std::cos(u), r * std::sin(u), 0.4 * std::sin(v)});
    }
  const auto at = [&](int i, int j) { return i % around * across + j % across; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < across; ++j) {
      add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), group);
      add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), group);
    }
  mesh.closed = true;
  return mesh;
}

inline std::vector<Vector> densities(const Panels& panels) {
  const std::size_t n = panels.size();
  Vector smooth(n), local(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d x = panels.centroid(i) / panels.extent;
    smooth[i] = std::cos(5 * x.x + 1) * std::exp(x.y) + x.z;
    local[i] = std::exp(-60 * norm2(x - panels.centroid(n / 3) / panels.extent));
  }
  return {Vector(n, 1.0), smooth, local, signed_charges(n, 1)};
}

}  // namespace fmbem::test
