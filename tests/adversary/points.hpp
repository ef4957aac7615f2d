#pragma once

// Points of the kinds on which fast methods go wrong first, at random from a seed.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/points.hpp"

namespace fmbem::test {

struct AdversePoints {
  std::string name;
  std::vector<Vec3d> points;
};

/// One of each kind with n points.
inline std::vector<AdversePoints> adverse_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<AdversePoints> all;
  const auto add = [&](const char* name, auto&& at) {
    std::vector<Vec3d> points(n);
    for (std::size_t i = 0; i < n; ++i) points[i] = at(i);
    all.push_back({name, std::move(points)});
  };
  const Vec3d u = sphere_point(uniform), v = sphere_point(uniform), origin = 100 * v;
  const double power = uniform(1, 6);
  add("on an axis", [&](std::size_t) { return Vec3d{uniform(), 0, 0}; });
  add("on a tilted line", [&](std::size_t) { return origin + uniform() * u; });
  add("evenly on an axis", [&](std::size_t i) { return Vec3d{0, 0, double(i)}; });
  add("in a plane", [&](std::size_t) { return Vec3d{uniform(), uniform(), 7}; });
  add("in a tilted plane", [&](std::size_t) { return uniform() * u + uniform() * v; });
  add("crowded on a line", [&](std::size_t) {
    return Vec3d{std::pow(uniform(), power), 0, 1e-3 * uniform()};
  });
  add("two clusters 1e9 apart",
      [&](std::size_t i) { return sphere_point(uniform) + (i % 2 == 0 ? Vec3d{} : 1e9 * u); });
  add("99 % in 1e-12 of the size", [&](std::size_t i) {
    return (i % 100 == 0 ? 1 : 1e-12) * Vec3d{uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
  });
  add("five lines", [&](std::size_t i) {
    return Vec3d{uniform(), 0.2 * double(i % 5), 0.1 * double(i % 5)};
  });
  add("two planes a hair apart", [&](std::size_t i) {
    return Vec3d{uniform(), uniform(), i % 2 == 0 ? 0 : 1e-9};
  });
  add("in a cube", [&](std::size_t) { return Vec3d{uniform(), uniform(), uniform()}; });
  return all;
}

}  // namespace fmbem::test
