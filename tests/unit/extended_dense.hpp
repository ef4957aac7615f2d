#pragma once

// The dense single layer operator in long double, by a closed form of its own.
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem::test {

using Real = long double;
struct Point {
  Real x, y, z;
};
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Real dot(Point a, Point b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Real norm(Point a) { return std::sqrt(dot(a, a)); }
inline Point real(Vec3d v) { return {v.x, v.y, v.z}; }

/// ∫ 1/|x − y| dS_y over a triangle in a plane of constant z, whose corners go round
/// anticlockwise: Σ over edges of p ln((r⁺+s⁺)/(r⁻+s⁻)) − |h| (atan … − atan …), p being the edge's
/// distance from the foot of x, h the height [Wilton et al. 1984].
inline Real integral(const Triangle& t, Point x) {
  Real sum = 0;
  const Real h = std::fabs(x.z - t.vertex[0].z);
  for (int k = 0; k < 3; ++k) {
    const Point a = real(t.vertex[k]), b = real(t.vertex[(k + 1) % 3]);
    const Real length = norm(b - a);
    const Point u = {(b.x - a.x) / length, (b.y - a.y) / length, 0};
    const Real p = (x.x - a.x) * -u.y + (x.y - a.y) * u.x;  // to the left: inside
    const Real s_minus = dot(a - x, u), s_plus = dot(b - x, u);
    const Real r_minus = norm(a - x), r_plus = norm(b - x), r0 = p * p + h * h;
    if (p == 0) continue;
    // Which form of the sum does not cancel depends on the side of the foot on which the edge lies.
    const Real log_ratio = s_minus >= 0  ? std::log((r_plus + s_plus) / (r_minus + s_minus))
                           : s_plus <= 0 ? std::log((r_minus - s_minus) / (r_plus - s_plus))
                                         : std::log((r_plus + s_plus) * (r_minus - s_minus) / r0);
    sum += p * log_ratio;
    if (h > 0)
      sum -= h * (std::atan(p * s_plus / (r0 + h * r_plus)) -
                  std::atan(p * s_minus / (r0 + h * r_minus)));
  }
  return sum;
}

/// σ with V σ = φ in long double, by elimination with pivots.
inline std::vector<Real> solve_in_long_double(const Panels& panels, std::vector<Real> rhs) {
  const std::size_t n = panels.size();
  std::vector<std::vector<Real>> a(n, std::vector<Real>(n));
  const Real four_pi = 16 * std::atan(Real(1));
  for (std::size_t j = 0; j < n; ++j) {
    Triangle t = panels.triangle(j);
    if (t.normal.z < 0) std::swap(t.vertex[1], t.vertex[2]);
    for (std::size_t i = 0; i < n; ++i) a[i][j] = integral(t, real(panels.centroid(i))) / four_pi;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(rhs[k], rhs[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real f = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= f * a[k][j];
      rhs[i] -= f * rhs[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) rhs[k] -= a[k][j] * rhs[j];
    rhs[k] /= a[k][k];
  }
  return rhs;
}

}  // namespace fmbem::test
