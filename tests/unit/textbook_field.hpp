#pragma once

// Fields of panels in long double, by the textbook's formulas, for tests and benchmarks.
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem::test {

/// Over the square root of a panel's area.
inline constexpr std::array near_distances{1e-9, 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 1.0, 10.0};

/// φ, E and ∇E, and the sums of what their panels give in absolute value.
struct TextbookField {
  using Real = long double;
  std::array<Real, 1> potential{};
  std::array<Real, 3> e{};
  std::array<Real, 9> gradient{};
  Real potential_size = 0, e_size = 0, gradient_size = 0;

  double error_of_potential(double value) const {
    return static_cast<double>(std::fabs(value - potential[0]) / potential_size);
  }
  double error_of_e(Vec3d value) const {
    Real sum = 0;
    for (int k = 0; k < 3; ++k) sum += (value[k] - e[k]) * (value[k] - e[k]);
    return static_cast<double>(std::sqrt(sum) / e_size);
  }
  double error_of_gradient(const Symmetric3d& value) const {
    Real sum = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const Real difference = value(i, j) - gradient[3 * i + j];
        sum += difference * difference;
      }
    return static_cast<double>(std::sqrt(sum) / gradient_size);
  }
};

/// Of constant densities at a point off all panels. In a panel's frame, x at (0, 0, z) and its
/// plane at height 0, with edges from a to b, u along them and m to their right [Wilton et al.
/// 1984; Graglia 1993]: p = m·(a − x), P = p ∫ ds/r, ω = Σ atan …; and derivatives of these, term
/// by term.
inline TextbookField textbook_field(const Panels& panels, std::span<const double> sigma, Vec3d at) {
  using Real = TextbookField::Real;
  using Point = std::array<Real, 3>;
  const auto minus = [](Point a, Point b) { return Point{a[0] - b[0], a[1] - b[1], a[2] - b[2]}; };
  const auto times = [](Point a, Point b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  const auto length_of = [&](Point a) { return std::sqrt(times(a, a)); };
  const auto product = [](Point a, Point b) {
    return Point{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const auto real = [](Vec3d v) { return Point{v.x, v.y, v.z}; };
  const Real four_pi = 16 * std::atan(Real(1));
  const Point x = minus(real(at), real(panels.origin));
  TextbookField sum;
  for (std::size_t j = 0; j < panels.size(); ++j) {
    Point v[3];
    for (int k = 0; k < 3; ++k) v[k] = real(panels.vertex(j, k));
    Point n = product(minus(v[1], v[0]), minus(v[2], v[0]));
    const Real twice_area = length_of(n);
    for (Real& c : n) c /= twice_area;
    const Real z = times(minus(x, v[0]), n), height = std::fabs(z);
    Real potential = 0, omega = 0;
    Point gradient{};
    std::array<Real, 9> second{};
    for (int k = 0; k < 3; ++k) {
      const Point a = minus(v[k], x), b = minus(v[(k + 1) % 3], x);
      Point u = minus(b, a);
      const Real length = length_of(u);
      for (Real& c : u) c /= length;
      const Point m = product(u, n);
      const Real p = times(a, m), s0 = times(a, u), s1 = times(b, u), r0 = length_of(a),
                 r1 = length_of(b), d2 = p * p + z * z;
      const Real line = s0 >= 0   ? std::log((r1 + s1) / (r0 + s0))
                        : s1 <= 0 ? std::log((r0 - s0) / (r1 - s1))
                                  : std::log((r1 + s1) * (r0 - s0) / d2);
      const Real angle =
          std::atan(p * s1 / (d2 + height * r1)) - std::atan(p * s0 / (d2 + height * r0));
      potential += p * line - height * angle;
      omega += angle;
      // ∇ of the line's integral: along it, and across.
      const Real cube = (s1 / r1 - s0 / r0) / d2, ends = 1 / r0 - 1 / r1;
      for (int i = 0; i < 3; ++i) {
        gradient[i] -= m[i] * line;
        for (int l = 0; l < 3; ++l) {
          const Real of_line = ends * u[l] + cube * (p * m[l] - z * n[l]);
          second[3 * i + l] -= m[i] * of_line;
          // −n ∇(solid angle), by Biot and Savart: ∫ u × (y − x)/r³ ds.
          second[3 * i + l] -= n[i] * cube * (-p * n[l] - z * m[l]);
        }
      }
    }
    for (int i = 0; i < 3; ++i) gradient[i] -= (z > 0 ? omega : -omega) * n[i];
    const Real q = sigma[j] / four_pi;
    sum.potential[0] += q * potential;
    sum.potential_size += std::fabs(q * potential);
    for (int i = 0; i < 3; ++i) sum.e[i] -= q * gradient[i];
    sum.e_size += std::fabs(q) * length_of(gradient);
    Real square = 0;
    for (int i = 0; i < 9; ++i) {
      sum.gradient[i] -= q * second[i];
      square += second[i] * second[i];
    }
    sum.gradient_size += std::fabs(q) * std::sqrt(square);
  }
  return sum;
}

}  // namespace fmbem::test
