#pragma once

// Capacitances that are known exactly, with meshes of them that are refined on the bodies.
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "fmbem/problems/capacitance.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

struct ClosedForm {
  std::string name;
  std::function<SurfaceMesh(int level)>
      mesh;            ///< level 0: some hundred panels; each has four times
  SquareMatrix exact;  ///< Maxwell's, in 4πε₀ times the unit of length
};

inline SquareMatrix square_matrix(std::size_t n, std::vector<double> values) {
  SquareMatrix matrix(n);
  matrix.values = std::move(values);
  return matrix;
}

/// Carlson's R_F(x, y, z) = ½∫₀^∞ dt/√((t+x)(t+y)(t+z)), by duplication [Carlson 1979].
inline double carlson_rf(double x, double y, double z) {
  for (int k = 0; k < 40; ++k) {
    const double l = std::sqrt(x * y) + std::sqrt(y * z) + std::sqrt(z * x);
    x = (x + l) / 4, y = (y + l) / 4, z = (z + l) / 4;
  }
  return 1 / std::sqrt(x);
}

/// Of an ellipsoid, or with c = 0 of an elliptic disk.
inline double ellipsoid_capacitance(double a, double b, double c) {
  return 1 / carlson_rf(a * a, b * b, c * c);
}

/// C₁₁, C₁₂, C₂₁, C₂₂ of spheres of radii a and b whose centres are c apart: with
/// cosh α = (c² − a² − b²)/2ab, C₁₁ = ab sinh α Σ 1/(b sinh nα + a sinh (n−1)α) and
/// C₁₂ = −(ab/c) sinh α Σ 1/sinh nα [Smythe 1968, 5.08].
inline SquareMatrix two_spheres_exactly(double a, double b, double c) {
  const double alpha = std::acosh((c * c - a * a - b * b) / (2 * a * b));
  double c11 = 0, c12 = 0, c22 = 0;
  for (int n = 1; n * alpha < 40; ++n) {
    const double at = std::sinh(n * alpha), before = std::sinh((n - 1) * alpha);
    c11 += 1 / (b * at + a * before);
    c22 += 1 / (a * at + b * before);
    c12 -= 1 / (c * at);
  }
  const double factor = a * b * std::sinh(alpha);
  return scaled(square_matrix(2, {c11, c12, c12, c22}), factor);
}

/// Of a torus with these radii of its circle and its tube: (2/π)√(R²−r²) Σ Q_{n−½}/P_{n−½} at R/r,
/// all terms but the first doubled [Hicks 1881, Smythe 1968]; Legendre's functions by
/// their integrals of (cosh η + sinh η cos φ)^(n−½) and (cosh η + sinh η cosh t)^−(n+½), for which
/// the trapezoidal rule converges geometrically.
inline double torus_capacitance(double ring, double tube) {
  const double x = ring / tube, s = std::sqrt(x * x - 1);
  double sum = 0;
  for (int n = 0; n < 200; ++n) {
    double p = 0, q = 0;
    constexpr int steps = 2000;
    for (int k = 0; k < steps; ++k) {
      p += std::pow(x + s * std::cos((k + 0.5) * std::numbers::pi / steps), n - 0.5) / steps;
      q += std::pow(x + s * std::cosh((k + 0.5) * 60.0 / steps), -n - 0.5) * 60.0 / steps;
    }
    sum += (n == 0 ? 1 : 2) * q / p;
  }
  return 2 / std::numbers::pi * std::sqrt(ring * ring - tube * tube) * sum;
}

/// Q/V of one of two coaxial unit disks at that gap, at V and ±V: (1/π)∫f, where
/// f(x) ± (κ/π)∫f(t)/(κ² + (x−t)²) dt = 1 on [−1, 1] with κ the gap, + for like potentials
/// [Love 1949]. f is even: by Gauss's rule of n points on [0, 1], many within a gap.
double disk_of_two(double gap, int sign);

/// A grid of cells round the ring and n round the tube, about as long as they are wide.
inline SurfaceMesh torus(int n, double ring, double tube) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "torus"), around = n * static_cast<int>(ring / tube);
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < n; ++j) {
      const double u = 2 * std::numbers::pi * i / around, v = 2 * std::numbers::pi * j / n;
      const double r = ring + tube * std::cos(v);
      add_vertex(mesh, {r * std::cos(u), r * std::sin(u), tube * std::sin(v)});
    }
  const auto at = [&](int i, int j) { return (i % around) * n + j % n; };
  for (int i = 0; i < around; ++i)
    for (int j = 0; j < n; ++j) {
      add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), group);
      add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), group);
    }
  mesh.closed = true;
  return mesh;
}

/// The part of the unit sphere up to this angle from the z axis, from the unit disk.
inline SurfaceMesh bowl(int level, double angle) {
  SurfaceMesh mesh = disk(level);
  for (Vec3d& v : mesh.vertices) {
    const double rho = norm(v), theta = angle * rho;
    const double s = rho > 0 ? std::sin(theta) / rho : 0;
    v = {s * v.x, s * v.y, std::cos(theta)};
  }
  return mesh;
}

inline void add_copy(SurfaceMesh& mesh, const SurfaceMesh& other, int group, Vec3d shift) {
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& v : other.vertices) add_vertex(mesh, v + shift);
  for (const auto& [a, b, c] : other.triangles)
    add_triangle(mesh, first + a, first + b, first + c, group);
}

std::vector<ClosedForm> closed_forms();

}  // namespace fmbem::test
