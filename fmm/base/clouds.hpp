#pragma once

// Seeded points and strengths, which do not depend on the standard library's distributions: what
// fmbem nbody, tests, benchmarks and examples compute with.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <string_view>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::clouds {

/// Uniform in [low, high), from the upper 53 of 64 random bits.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : bits_(seed) {}
  double operator()(double low = 0, double high = 1) {
    return low + (high - low) * (static_cast<double>(bits_() >> 11) * 0x1p-53);
  }

 private:
  std::mt19937_64 bits_;
};

/// Uniform on the part of the unit sphere with axis coordinate x ≥ low.
inline Vec3d sphere_point(Uniform& uniform, double low = -1) {
  const double x = uniform(low), angle = uniform(0, 2 * std::numbers::pi);
  const double ring = std::sqrt(1 - x * x);
  return {x, ring * std::cos(angle), ring * std::sin(angle)};
}

/// Uniform in the unit cube.
inline std::vector<Vec3d> cube_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> points(n);
  for (Vec3d& x : points) x = {uniform(), uniform(), uniform()};
  return points;
}

/// Uniform on the unit sphere's surface.
inline std::vector<Vec3d> sphere_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> points(n);
  for (Vec3d& x : points) x = sphere_point(uniform);
  return points;
}

/// Plummer's sphere of scale radius 1, density ∝ (1 + r²)^(−5/2), cut at radius 20.
/// Source: Aarseth, Hénon and Wielen 1974, appendix.
inline std::vector<Vec3d> plummer_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> points(n);
  for (Vec3d& x : points) {
    double r;
    do r = 1 / std::sqrt(std::pow(uniform(), -2.0 / 3) - 1);
    while (r > 20);
    x = r * sphere_point(uniform);
  }
  return points;
}

/// On the ellipsoid with semi-axes 1, 0.3 and 0.1: every other point uniform on the surface, the
/// rest uniform on the cap at the tip x = 1 that has 1 % of the area.
inline std::vector<Vec3d> ellipsoid_points(std::size_t n, std::uint64_t seed) {
  constexpr Vec3d axes{1, 0.3, 0.1};
  constexpr double cap = 0.941591157;  // least x of the cap, by quadrature of the area
  Uniform uniform(seed);
  std::vector<Vec3d> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    Vec3d s, normal;
    do {  // the area element, over that of the sphere, is axes.x·axes.y·axes.z·|normal|
      s = sphere_point(uniform, i % 2 == 0 ? -1 : cap);
      normal = {s.x / axes.x, s.y / axes.y, s.z / axes.z};
    } while (uniform(0, 1 / axes.z) > norm(normal));
    points[i] = {axes.x * s.x, axes.y * s.y, axes.z * s.z};
  }
  return points;
}

/// Uniform in [−1, 1).
inline std::vector<double> signed_charges(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<double> charges(n);
  for (double& q : charges) q = uniform(-1, 1);
  return charges;
}

/// Components uniform in [−1, 1).
inline std::vector<Vec3d> random_dipoles(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> dipoles(n);
  for (Vec3d& d : dipoles) d = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
  return dipoles;
}

/// The points called "cube", "sphere", "plummer" or "ellipsoid".
inline std::vector<Vec3d> points_by_name(std::string_view name, std::size_t n, std::uint64_t seed) {
  if (name == "cube") return cube_points(n, seed);
  if (name == "sphere") return sphere_points(n, seed);
  if (name == "plummer") return plummer_points(n, seed);
  FMBEM_REQUIRE(name == "ellipsoid", "there are no points called \""
                                         << name << "\": cube, sphere, plummer or ellipsoid");
  return ellipsoid_points(n, seed);
}

}  // namespace fmbem::clouds
