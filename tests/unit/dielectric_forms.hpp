#pragma once

// Spheres, shells and cubes of dielectrics and conductors with known values, for tests and
// benchmarks.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "fmbem/problems/conductor_field.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

/// Potential with a unit field along z far away.
inline double sphere_in_field(double permittivity, Vec3d x) {
  const double r = norm(x), k = (permittivity - 1) / (permittivity + 2);
  return -x.z * (r < 1 ? 1 - k : 1 - k / (r * r * r));
}

/// The same of a shell between radii a < 1 and 1: −E z inside, (−C + D/r³) z in the shell and
/// (−1 + P/r³) z outside, continuous with the normal part of εE.
inline double shell_in_field(double permittivity, double a, Vec3d x) {
  const double a3 = a * a * a, e = permittivity;
  // At r = a −E = −C + D/a³ and E = ε (C + 2 D/a³), so E = 3ε C/(2ε + 1), D = a³ C (1 − ε)/(2ε +
  // 1); at r = 1 −C + D = −1 + P and ε (C + 2 D) = 1 + 2 P.
  const double d = a3 * (1 - e) / (2 * e + 1), c = 3 / (e * (1 + 2 * d) + 2 * (1 - d)),
               p = 1 - c + c * d;
  const double r = norm(x), r3 = r * r * r;
  if (r < a) return -x.z * c * 3 * e / (2 * e + 1);
  return x.z * (r < 1 ? c * (d / r3 - 1) : p / r3 - 1);
}

/// Potential of a charge of 4πε₀ on the z axis, at that distance from the centre; in its medium by
/// a series of Legendre polynomials.
inline double charge_at_sphere(double permittivity, double distance, Vec3d x) {
  const double r = norm(x), cosine = x.z / r, e = permittivity, d = distance;
  const bool charge_inside = d < 1, inside = r < 1;
  const double apart = norm(x - Vec3d{0, 0, d});
  double sum = 0, legendre = 1, before = 0;
  for (int n = 0; n < 400; ++n) {
    double term;
    if (charge_inside)
      term = inside ? (n + 1) * (e - 1) / (n * e + n + 1) * std::pow(d * r, n) / e
                    : (2 * n + 1) / (n * e + n + 1) * std::pow(d / r, n) / r;
    else
      term = inside ? (2 * n + 1) / (n * e + n + 1) * std::pow(r / d, n) / d
                    : n * (1 - e) / (n * e + n + 1) / std::pow(d * r, n + 1);
    sum += term * legendre;
    const double next = ((2 * n + 1) * cosine * legendre - n * before) / (n + 1);
    before = legendre;
    legendre = next;
  }
  return sum + (inside == charge_inside ? 1 / (apart * (charge_inside ? e : 1)) : 0);
}

/// Dipole moment over ε₀ of a cube of 1 × 1 × 1 in a field of 1: numbers of an integral equation of
/// high order, to which this was fitted. Source: Sihvola, Ylä-Oijala, Järvenpää, Avelin 2004,
/// "Polarizabilities of Platonic solids", IEEE Trans. Antennas Propag. 52.
inline double cube_polarizability(double permittivity) {
  const double e = permittivity, of_metal = 3.6442, of_hole = -1.6383;
  return of_metal * (e - 1) * (((e + 4.83981) * e + 5.54742) * e - of_hole) /
         ((((e + 8.0341) * e + 19.3534) * e + 15.4349) * e + of_metal);
}

/// A cube whose upper face is graded 10:1 towards its edges, the others uniform: panels beside each
/// other there differ by as much in width.
inline SurfaceMesh cube_of_two_gradings(int n) {
  return cube_with_upper_face(n, [n](SurfaceMesh& mesh, int group, Vec3d corner, Vec3d u, Vec3d v) {
    add_graded_grid(mesh, group, 2 * n, 10, corner, u, v);
  });
}

/// Of the conductor "ball" in shells as FastCap's references have them: it lies between spheres of
/// .5 and .6, a dielectric with ε = 2 between both, and another one between .9 and 1.
struct Shells {
  SurfaceMesh mesh;
  ConductorOptions options;
  double capacitance;  ///< over 4πε₀
};
inline Shells conductor_in_shells(int level) {
  Shells result;
  add_ellipsoid(result.mesh, "ball", level, {0.5, 0.5, 0.5});
  add_ellipsoid(result.mesh, "coat", level, {0.6, 0.6, 0.6});
  add_ellipsoid(result.mesh, "inside", level, {0.9, 0.9, 0.9});
  add_ellipsoid(result.mesh, "outside", level, {1, 1, 1});
  result.options.interfaces = {"coat", "inside", "outside"};
  result.options.media = {{"ball", 2, 2}, {"coat", 2, 1}, {"inside", 1, 2}, {"outside", 2, 1}};
  result.capacitance = 1 / ((1 / 0.5 - 1 / 0.6) / 2 + (1 / 0.6 - 1 / 0.9) + (1 / 0.9 - 1) / 2 + 1);
  return result;
}

/// The potential of a conducting sphere without charge between endless plates at z = ±½, which are
/// at ±½ V: as a charge q at z takes −q (½ ± z) to the plates, that is the height of the centre of
/// the charge that the sphere has at 1 V between plates at 0 V. Its multipoles q_l about its own
/// centre, of which those mirrored in the plates k times lie on the axis at z_k, are a fixed point.
inline double floating_between_plates(double radius, double height) {
  constexpr int terms = 30, images = 2000, sweeps = 200;
  // [m][l]: the m-th power's coefficient, on the axis, of the potential of the images of q_l.
  std::vector<std::vector<double>> of_images(terms, std::vector<double>(terms, 0.0));
  const auto add = [&](double place, bool is_odd) {
    const double distance = std::abs(place - height);
    for (int l = 0; l < terms; ++l) {
      const double sign = is_odd && l % 2 == 0 ? -1 : 1;
      double value = sign / std::pow(distance, l + 1);
      for (int m = 0; m < terms; ++m) {
        const bool flips = (place > height ? l : m) % 2 == 1;
        of_images[m][l] += flips ? -value : value;
        value *= (l + m + 1.0) / ((m + 1.0) * distance);  // of binomial(l + m, m)
      }
    }
  };
  for (int k = images; k > 0; --k) {  // the small ones first; two of each sign cancel far off
    add(height + 2 * k, false);
    add(height - 2 * k, false);
    add(2 * k - 1 - height, true);
    add(1 - 2 * k - height, true);
  }
  std::vector<double> q(terms, 0.0);
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (int m = 0; m < terms; ++m) {
      double potential = 0;
      for (int l = 0; l < terms; ++l) potential += of_images[m][l] * q[l];
      q[m] = (m == 0 ? radius : 0) - std::pow(radius, 2 * m + 1) * potential;
    }
  return height + q[1] / q[0];
}

/// The largest error of a solution's potential at 100 points 0.7 and 1.5 from the centre.
inline double error_of_potential(const ConductorSolution& solution,
                                 const std::function<double(Vec3d)>& exact) {
  std::vector<Vec3d> points;
  for (const Vec3d& x : sphere_points(50, 1)) {
    points.push_back(0.7 * x);
    points.push_back(1.5 * x);
  }
  const Field field = conductor_field(solution, 0, points);
  double error = 0;
  for (std::size_t k = 0; k < points.size(); ++k)
    error = larger_error(error, std::abs(field.potential[k] - exact(points[k])));
  return error;
}

/// The unit sphere in groups "upper" and "lower", and the plane of its equator from there to four
/// radii as "border", normals up, in so many rings.
inline SurfaceMesh half_immersed_sphere(int level, int rings) {
  const SurfaceMesh whole = sphere(level);
  SurfaceMesh mesh;
  const int upper = add_group(mesh, "upper"), lower = add_group(mesh, "lower"),
            border = add_group(mesh, "border");
  for (const Vec3d& v : whole.vertices) add_vertex(mesh, v);
  std::vector<int> ring;
  for (std::size_t v = 0; v < whole.vertices.size(); ++v)
    if (std::abs(whole.vertices[v].z) < 1e-9) ring.push_back(static_cast<int>(v));
  std::sort(ring.begin(), ring.end(), [&](int a, int b) {
    const Vec3d &p = whole.vertices[a], &q = whole.vertices[b];
    return std::atan2(p.y, p.x) < std::atan2(q.y, q.x);
  });
  for (const auto& [a, b, c] : whole.triangles)
    add_triangle(mesh, a, b, c,
                 (whole.vertices[a] + whole.vertices[b] + whole.vertices[c]).z > 0 ? upper : lower);
  const auto n = ring.size();
  for (int k = 1; k <= rings; ++k) {
    const double stretch = std::pow(4.0, 1.0 / rings);
    std::vector<int> next;
    for (const int v : ring) {
      const Vec3d at = mesh.vertices[v];
      next.push_back(add_vertex(mesh, stretch * at));
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = (i + 1) % n;
      add_triangle(mesh, ring[i], next[i], next[j], border);
      add_triangle(mesh, ring[i], next[j], ring[j], border);
    }
    ring = next;
  }
  return mesh;
}

}  // namespace fmbem::test
