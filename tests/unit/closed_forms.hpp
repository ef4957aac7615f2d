#pragma once

// Capacitances that are known exactly, with meshes of the bodies that are refined on them.
#include <functional>
#include <string>
#include <vector>

#include "fmbem/problems/capacitance.hpp"

namespace fmbem::test {

struct ClosedForm {
  std::string name;
  /// Level 0 has some hundred panels, each other four times those of the one before.
  std::function<SurfaceMesh(int level)> mesh;
  SquareMatrix exact;  ///< Maxwell's form, in 4πε₀ times the unit of length
};
std::vector<ClosedForm> closed_forms();

/// The capacitance of an ellipsoid, or with c = 0 of an elliptic disk, over 4πε₀: 1/R_F(a², b²,
/// c²).
double ellipsoid_capacitance(double a, double b, double c);

/// C₁₁, C₁₂, C₂₁, C₂₂ of spheres of radii a and b whose centres are c apart: with
/// cosh α = (c² − a² − b²)/2ab, C₁₁ = ab sinh α Σ 1/(b sinh nα + a sinh (n−1)α) and
/// C₁₂ = −(ab/c) sinh α Σ 1/sinh nα [Smythe 1968, 5.08].
SquareMatrix two_spheres_exactly(double a, double b, double c);

/// The capacitance of a torus with these radii of circle and tube: (2/π)√(R²−r²) Σ Q_{n−½}/P_{n−½}
/// at R/r, all terms but the first doubled [Hicks 1881, Smythe 1968]. Legendre's functions are
/// integrals of (cosh η + sinh η cos φ)^(n−½) and (cosh η + sinh η cosh t)^−(n+½), for which the
/// trapezoidal rule converges geometrically.
double torus_capacitance(double ring, double tube);

/// Q/V of one of two coaxial unit disks at that gap, at V and ±V: (1/π)∫f, where
/// f(x) ± (κ/π)∫f(t)/(κ² + (x−t)²) dt = 1 on [−1, 1] with κ the gap, + for like potentials
/// [Love 1949]. f is even: by Gauss's rule of n points on [0, 1], many within a gap.
double disk_of_two(double gap, int sign);

}  // namespace fmbem::test
