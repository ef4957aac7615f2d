#pragma once

// Eigenfunctions of K and K' in closed form, and polyhedra on which K of a constant is −1/2, for
// tests and benchmarks.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test {

struct Eigenfunction {
  std::string name;
  double eigenvalue;
  std::function<SurfaceMesh(int level)> mesh;
  std::function<double(Vec3d x)> of_k, of_adjoint;  ///< at points of the surface
};

/// Spherical harmonics of degree l: −1/(2(2l+1)). On an ellipsoid x is one of K and the normal's x
/// of K', with the depolarisation factor of x less ½ (a field that is uniform inside). Source:
/// Ritter 1995, "The spectrum of the electrostatic integral operator for an ellipsoid".
inline std::vector<Eigenfunction> eigenfunctions() {
  const auto on_sphere = [](const char* name, int degree, std::function<double(Vec3d)> f) {
    const auto harmonic = [f](Vec3d x) { return f(x / norm(x)); };
    return Eigenfunction{name, -0.5 / (2 * degree + 1), [](int level) { return sphere(level); },
                         harmonic, harmonic};
  };
  // A prolate spheroid of 1, 1, 2 has the factor (1−e²)/e² (artanh(e)/e − 1) along its axis.
  const double e = std::sqrt(0.75), along = 0.25 / 0.75 * (std::atanh(e) / e - 1);
  const auto spheroid = [](int level) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "spheroid", level, {1, 1, 2});
    return mesh;
  };
  const auto normal = [](Vec3d x) {
    const Vec3d n{x.x, x.y, x.z / 4};
    return n / norm(n);
  };
  return {on_sphere("sphere, l = 1", 1, [](Vec3d x) { return x.x - 2 * x.z; }),
          on_sphere("sphere, l = 2", 2, [](Vec3d x) { return x.x * x.y + x.z * x.z - 1. / 3; }),
          on_sphere("sphere, l = 3", 3, [](Vec3d x) { return x.x * x.y * x.z; }),
          {"spheroid 2:1, along its axis", along - 0.5, spheroid, [](Vec3d x) { return x.z; },
           [normal](Vec3d x) { return normal(x).z; }},
          {"spheroid 2:1, across", (1 - along) / 2 - 0.5, spheroid, [](Vec3d x) { return x.x; },
           [normal](Vec3d x) { return normal(x).x; }}};
}

/// ‖A f − λ f‖/‖f‖ in the norm of the surface, of values at centroids.
inline double eigen_residual(const BoundaryOperator& op, const Panels& panels,
                             const Eigenfunction& e, const std::function<double(Vec3d)>& f) {
  Vector x;
  for (std::size_t i = 0; i < panels.size(); ++i)
    x.push_back(f(panels.centroid(i) + panels.origin));
  const Vector y = product(op, x);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double area = panels.triangle(i).area, wrong = y[i] - e.eigenvalue * x[i];
    error += area * wrong * wrong;
    size += area * x[i] * x[i];
  }
  return std::sqrt(error / size);
}

/// With edges sharp, straight and re-entrant: on each of them K 1 = −1/2 holds exactly.
struct Polyhedron {
  std::string name;
  std::function<SurfaceMesh(int level)> mesh;  ///< 2 or more
};
inline std::vector<Polyhedron> polyhedra() {
  return {{"wedge of 5 degrees", [](int level) { return wedge(5, level); }},
          {"wedge of 30 degrees", [](int level) { return wedge(30, level); }},
          {"wedge of 330 degrees", [](int level) { return wedge(330, level - 1); }},
          {"notched cube", [](int level) { return notched_cube(1 << (level - 1)); }},
          {"bracket", [](int level) { return bracket(2 << (level - 1)); }}};
}

}  // namespace fmbem::test
