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

/// The lattice of step 1/m with m = ⌈n^(1/3)⌉ points an axis: its first n points.
inline std::vector<Vec3d> lattice_points(std::size_t n) {
  auto m = static_cast<std::size_t>(std::cbrt(static_cast<double>(n)));
  while (m * m * m < n) ++m;
  std::vector<Vec3d> points(n);
  const double step = 1 / static_cast<double>(m);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t plane = i / (m * m), row = i / m % m;
    points[i] = step * Vec3d{static_cast<double>(plane), static_cast<double>(row),
                             static_cast<double>(i % m)};
  }
  return points;
}

/// At distance u³ around one of two centres that are 2 apart, u uniform in [0, 1): a density of
/// r^(−8/3)/3 about each.
inline std::vector<Vec3d> centres_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = uniform();
    points[i] = u * u * u * sphere_point(uniform) + (i % 2 == 0 ? Vec3d{} : Vec3d{2, 0.3, 0.1});
  }
  return points;
}

/// Two turns of a helix of radius 1 and height 1, with a normal spread of a thousandth.
inline std::vector<Vec3d> filament_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  const auto normal = [&] {  // Box and Muller 1958
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  };
  std::vector<Vec3d> points(n);
  for (Vec3d& x : points) {
    const double turn = uniform(0, 2), angle = 2 * std::numbers::pi * turn;
    x = Vec3d{std::cos(angle), std::sin(angle), turn / 2} +
        1e-3 * Vec3d{normal(), normal(), normal()};
  }
  return points;
}

/// Uniform in the unit cube, but for the first `share` of them: these are in a cube of that edge in
/// it, so that two scales meet.
inline std::vector<Vec3d> cluster_points(std::size_t n, std::uint64_t seed, double edge,
                                         double share) {
  std::vector<Vec3d> points = cube_points(n, seed);
  const auto inside = static_cast<std::size_t>(share * static_cast<double>(n));
  for (std::size_t i = 0; i < inside; ++i) points[i] = Vec3d{0.31, 0.59, 0.27} + edge * points[i];
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

/// The names of points_by_name().
inline constexpr std::string_view names_of_points =
    "cube, sphere, plummer, ellipsoid, lattice, centres, filament, cluster or scales";

/// The points of that name. "cluster" has 99 % of them in a billionth of the volume, "scales" half
/// in a cube of a millionth of the edge.
inline std::vector<Vec3d> points_by_name(std::string_view name, std::size_t n, std::uint64_t seed) {
  if (name == "cube") return cube_points(n, seed);
  if (name == "sphere") return sphere_points(n, seed);
  if (name == "plummer") return plummer_points(n, seed);
  if (name == "lattice") return lattice_points(n);
  if (name == "centres") return centres_points(n, seed);
  if (name == "filament") return filament_points(n, seed);
  if (name == "cluster") return cluster_points(n, seed, 1e-3, 0.99);
  if (name == "scales") return cluster_points(n, seed, 1e-6, 0.5);
  FMBEM_REQUIRE(name == "ellipsoid",
                "there are no points called \"" << name << "\": " << names_of_points);
  return ellipsoid_points(n, seed);
}

}  // namespace fmbem::clouds
