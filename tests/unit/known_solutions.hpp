#pragma once

// Boundary value problems whose solutions are known, in natural units: a charge q has the potential
// q/(ε |x − p|). Layers of a sphere are in layered_sphere.hpp, conductors over planes in
// grounded_ball.hpp.
#include <functional>
#include <span>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem::test {

/// A harmonic function and its gradient, which has the normal derivatives on any surface.
struct Harmonic {
  std::function<double(Vec3d)> potential;
  std::function<Vec3d(Vec3d)> gradient;
};

struct Charge {
  Vec3d place;
  double charge;
};

/// Σ q/|x − p|: a solution on the side of any surface that has none of the charges.
Harmonic field_of(const std::vector<Charge>& charges);

/// Pₙ(x̂·a) rⁿ for a unit vector a, a solution inside of a sphere about the origin, and
/// Pₙ(x̂·a) r^−(n+1), one outside. On the unit sphere the single layer (2n+1) Pₙ has both.
Harmonic regular_harmonic(int n, Vec3d axis);
Harmonic irregular_harmonic(int n, Vec3d axis);

/// Charges well outside of the unit sphere, and others well inside.
std::vector<Charge> charges_outside_unit_sphere();
std::vector<Charge> charges_inside_unit_sphere();
/// Of a torus about the z axis with these radii of its circle and its tube: outside, one of them in
/// its hole, and inside of its tube, some of them a ring.
std::vector<Charge> charges_outside_torus(double ring, double tube);
std::vector<Charge> charges_inside_torus(double ring, double tube);

/// Outside or inside of the unit sphere with φ = 1 on its upper half, −1 on its lower one:
/// Σ (P_{n−1}(0) − P_{n+1}(0)) r^−(n+1) Pₙ(cos θ) over odd n, rⁿ inside [Jackson 1999, 3.3].
/// Not within 2 % of the sphere, where 2000 terms do not do.
double halves_at_opposite_potentials(Vec3d x);

/// A charge of 1 at height h over the plane z = 0, with permittivity `above` and `below`: of
/// images (above − below)/(above + below) at −h, and 2 above/(above + below) seen from below
/// [Jackson 1999, 4.4].
double charge_over_dielectric(double above, double below, double height, Vec3d x);

/// Force along their axis on the second of two conducting spheres of radii a and b, centres c
/// apart, with charges q₁ and q₂, positive where they repel: −½ qᵀ dP/dc q with P the inverse of
/// two_spheres_exactly(). Its derivative is a difference of fourth order, good to 1e-9.
double force_between_spheres(double a, double b, double c, double q1, double q2);

/// Force on a charge of 1 at a distance d from the centre of an uncharged dielectric sphere of
/// radius a with relative permittivity ε, positive away from it:
/// −Σ n (n + 1)(ε − 1)/(n (ε + 1) + 1) a^(2n+1)/d^(2n+3) [Stratton 1941, 3.23, differentiated].
double force_on_charge_at_sphere(double permittivity, double a, double d);

/// Root mean square difference of two lists of potentials after their means are taken off and both
/// are scaled to length 1 (relative difference measure, RDM), and the ratio of their lengths (MAG)
/// [Meijs et al. 1989].
struct Likeness {
  double rdm, mag;
};
Likeness likeness(std::vector<double> computed, std::vector<double> exact);

/// The groups of a mesh of one body split by what `is_upper` says of centroids, "upper" and
/// "lower".
SurfaceMesh split_in_two(SurfaceMesh mesh, const std::function<bool(Vec3d)>& is_upper);

}  // namespace fmbem::test
