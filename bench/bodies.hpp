#pragma once

// Bodies with solutions of Laplace's equation on both sides of their surface.
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "tests/unit/known_solutions.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::bench {

struct KnownBody {
  std::string name;
  std::function<SurfaceMesh(int level)> mesh;
  std::vector<Vec3d> points[2];  ///< inside, outside
  test::Harmonic solution[2];
};

inline KnownBody ball() {
  using namespace test;
  KnownBody body{"sphere",
                 [](int level) { return sphere(level); },
                 {},
                 {field_of(charges_outside_unit_sphere()), field_of(charges_inside_unit_sphere())}};
  for (const Vec3d& x : sphere_points(100, 1)) {
    body.points[0].push_back(0.7 * x);
    body.points[1].push_back(1.5 * x);
  }
  return body;
}

inline KnownBody ring() {
  using namespace test;
  constexpr double radius = 2, tube = 0.8;
  KnownBody body{"torus",
                 [=](int level) { return torus(2 << level, radius, tube); },
                 {},
                 {field_of(charges_outside_torus(radius, tube)),
                  field_of(charges_inside_torus(radius, tube))}};
  Uniform uniform(2);
  for (int k = 0; k < 100; ++k) {
    const double u = uniform(0, 2 * std::numbers::pi), v = uniform(0, 2 * std::numbers::pi);
    for (const int side : {0, 1}) {
      const double s = tube * (side == 0 ? 0.5 : 1.6), r = radius + s * std::cos(v);
      body.points[side].push_back({r * std::cos(u), r * std::sin(u), s * std::sin(v)});
    }
  }
  return body;
}

}  // namespace fmbem::bench
