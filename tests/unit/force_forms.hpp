#pragma once

// Forces that are known in closed form, for tests and benchmarks.
#include <cmath>

#include "fmbem/fmm/base/vec3.hpp"
#include "tests/unit/closed_forms.hpp"

namespace fmbem::test {

/// On the second of two conducting spheres of radii a and b at those potentials, whose centres are
/// c apart, away from the first: ½ Σ V_i V_j dC_ij/dc, by differences of the image series in 4πε₀;
/// in units of 4πε₀ V².
inline double force_of_spheres(double a, double b, double c, double v_a, double v_b) {
  const auto energy = [&](double apart) {
    const SquareMatrix m = two_spheres_exactly(a, b, apart);
    return 0.5 * (m(0, 0) * v_a * v_a + 2 * m(0, 1) * v_a * v_b + m(1, 1) * v_b * v_b);
  };
  const double h = 2e-3 * (c - a - b);
  return (8 * (energy(c + h) - energy(c - h)) - (energy(c + 2 * h) - energy(c - 2 * h))) / (12 * h);
}

/// On a charge of 4πε₀ at that distance from the centre of a dielectric sphere of radius 1, away
/// from it, both in a medium; in units of 4πε₀ [Stratton 1941, 3.23]:
///     Σ n (n+1) (ε_m − ε)/(n ε + (n+1) ε_m) / (ε_m d^(2n+3)).
inline double force_at_dielectric_sphere(double permittivity, double medium, double distance) {
  double sum = 0;
  for (int n = 1; n < 2000; ++n)
    sum += n * (n + 1) * (medium - permittivity) / (n * permittivity + (n + 1) * medium) /
           (medium * std::pow(distance, 2 * n + 3));
  return sum;
}

/// The same at a conducting one with that charge, over 4πε₀, in vacuum: Kelvin's image −1/d at 1/d
/// and its opposite, with the charge, in the centre.
inline double force_at_charged_sphere(double charge, double distance) {
  const double d = distance;
  return (charge + 1 / d) / (d * d) - 1 / d / std::pow(d - 1 / d, 2);
}

/// The torque about y on a dielectric spheroid of semi-axes 1, 1, c along z in a field of 1 V/m in
/// the xz plane at that angle from z: (p × E)_y, p_i = 4πε₀c/3 (ε−1)/(1 + (ε−1) L_i) E_i with the
/// depolarization factors L of a prolate spheroid [Stratton 1941, 3.27]; in units of 4πε₀.
inline double torque_on_spheroid(double permittivity, double c, double angle) {
  const double e = std::sqrt(1 - 1 / (c * c)),
               l_z = (1 - e * e) / (e * e) * (std::atanh(e) / e - 1), l_x = (1 - l_z) / 2;
  const auto moment = [&](double l, double field) {
    return c / 3 * (permittivity - 1) / (1 + (permittivity - 1) * l) * field;
  };
  const double e_x = std::sin(angle), e_z = std::cos(angle);
  return moment(l_z, e_z) * e_x - moment(l_x, e_x) * e_z;
}

}  // namespace fmbem::test
