#pragma once

// Problems on spheres and boxes with known solutions, for tests and benchmarks.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fmbem/problems/solve_problem.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// Vertices at the same place become one, as in meshes that are read.
inline SurfaceMesh with_shared_vertices(const SurfaceMesh& mesh) {
  SurfaceMesh result;
  result.groups = mesh.groups;
  std::map<std::tuple<long, long, long>, int> at;
  std::vector<int> number;
  for (const Vec3d& v : mesh.vertices) {
    const auto grid = [](double x) { return std::lround(1e7 * x); };
    const auto [entry, is_new] = at.try_emplace({grid(v.x), grid(v.y), grid(v.z)}, 0);
    if (is_new) entry->second = add_vertex(result, v);
    number.push_back(entry->second);
  }
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    add_triangle(result, number[a], number[b], number[c], mesh.group_of[i]);
  }
  result.closed = true;
  return result;
}

/// The unit sphere in groups "upper" and "lower".
inline SurfaceMesh sphere_of_halves(int level) {
  SurfaceMesh mesh = sphere(level);
  mesh.groups = {{"upper", 1}, {"lower", 2}};
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    double z = 0;
    for (const int v : mesh.triangles[i]) z += mesh.vertices[v].z;
    mesh.group_of[i] = z > 0 ? 0 : 1;
  }
  return mesh;
}

/// A box from the origin to `far` in cells of size h, with the groups "start" and "end" at its ends
/// along x and "sides".
inline SurfaceMesh bar(double h, Vec3d far) {
  SurfaceMesh mesh;
  const int start = add_group(mesh, "start"), end = add_group(mesh, "end"),
            sides = add_group(mesh, "sides");
  const auto face = [&](int group, Vec3d corner, Vec3d u, Vec3d v) {
    const auto lines = [&](Vec3d edge) {
      std::vector<double> at;
      const int n = static_cast<int>(std::lround(norm(edge) / h));
      for (int i = 0; i <= n; ++i) at.push_back(double(i) / n);
      return at;
    };
    SurfaceMesh plate = plate_of_lines(lines(u), lines(v), corner, u, v);
    const int first = static_cast<int>(mesh.vertices.size());
    for (const Vec3d& x : plate.vertices) add_vertex(mesh, x);
    for (const auto& [a, b, c] : plate.triangles)
      add_triangle(mesh, first + a, first + b, first + c, group);
  };
  const Vec3d x{far.x, 0, 0}, y{0, far.y, 0}, z{0, 0, far.z};
  face(start, {}, z, y);
  face(end, far, -y, -z);
  face(sides, {}, y, x);
  face(sides, {}, x, z);
  face(sides, far, -x, -y);
  face(sides, far, -z, -x);
  return with_shared_vertices(mesh);
}

inline GroupCondition dirichlet(const char* group, SurfaceData value) {
  return {.group = group, .kind = GroupCondition::Kind::dirichlet, .value = std::move(value)};
}
inline GroupCondition neumann(const char* group, SurfaceData value) {
  return {.group = group, .kind = GroupCondition::Kind::neumann, .value = std::move(value)};
}
inline GroupCondition robin(const char* group, SurfaceData coefficient, SurfaceData value) {
  return {.group = group,
          .kind = GroupCondition::Kind::robin,
          .value = std::move(value),
          .coefficient = std::move(coefficient)};
}
inline GroupCondition at_potential(const char* group, double volts) {
  return {.group = group, .conductor = {.value = volts}};
}
inline GroupCondition with_charge(const char* group, double charge) {
  return {.group = group, .conductor = {.has_charge = true, .value = charge}};
}
inline GroupCondition between(const char* group, const char* inside, const char* outside) {
  return {.group = group,
          .kind = GroupCondition::Kind::interface,
          .inside = inside,
          .outside = outside};
}
inline GroupCondition in(const char* region, GroupCondition condition) {
  condition.inside = region;
  return condition;
}
inline GroupCondition around(const char* region, GroupCondition condition) {
  condition.outside = region;
  return condition;
}

/// `count` points on the sphere of a radius.
inline std::vector<Vec3d> points_at(double radius, int count = 50) {
  std::vector<Vec3d> points = sphere_points(count, 1);
  for (Vec3d& x : points) x = radius * x;
  return points;
}

/// The largest errors of φ and of E at points.
struct FieldError {
  double potential = 0, e = 0;
};
inline FieldError field_error(const SurfaceMesh& mesh, const ProblemSolution& solution,
                              const std::vector<Vec3d>& points,
                              const std::function<double(Vec3d)>& exact) {
  const ProblemField field = problem_field(mesh, solution, 0, points);
  FieldError error;
  constexpr double step = 1e-5;
  for (std::size_t k = 0; k < points.size(); ++k) {
    error.potential =
        larger_error(error.potential, std::abs(field.potential[k] - exact(points[k])));
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d d{};
      d[axis] = step;
      const double slope = (exact(points[k] + d) - exact(points[k] - d)) / (2 * step);
      error.e = larger_error(error.e, std::abs(field.e[k][axis] + slope));
    }
  }
  return error;
}

/// Of a dipole of moment 1 (A m) along z in the centre of nested spheres of these radii and
/// conductivities, the innermost first; no current leaves the outermost: φ = (a_k r + b_k/r²) cos
/// θ.
inline double dipole_in_shells(const std::vector<double>& radius,
                               const std::vector<double>& conductivity, Vec3d x) {
  const std::size_t n = radius.size();
  const double four_pi = 4 * std::numbers::pi;
  // Linear in the innermost a: one without the dipole, and one with it alone.
  std::vector<std::array<double, 2>> a(n), b(n);
  for (int which = 0; which < 2; ++which) {
    a[0][which] = which == 0 ? 1 : 0;
    b[0][which] = which == 0 ? 0 : 1 / (four_pi * conductivity[0]);
    for (std::size_t k = 0; k + 1 < n; ++k) {
      const double r = radius[k], r3 = r * r * r, ratio = conductivity[k] / conductivity[k + 1];
      const double value = a[k][which] + b[k][which] / r3,
                   slope = ratio * (a[k][which] - 2 * b[k][which] / r3);
      b[k + 1][which] = r3 * (value - slope) / 3;
      a[k + 1][which] = value - b[k + 1][which] / r3;
    }
  }
  const double r3 = std::pow(radius[n - 1], 3);
  const double inner = -(a[n - 1][1] - 2 * b[n - 1][1] / r3) / (a[n - 1][0] - 2 * b[n - 1][0] / r3);
  std::size_t k = 0;
  const double r = norm(x);
  while (k + 1 < n && r > radius[k]) ++k;
  return ((inner * a[k][0] + a[k][1]) + (inner * b[k][0] + b[k][1]) / (r * r * r)) * x.z;
}

}  // namespace fmbem::test
