#include "fmbem/problems/known_molecules.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/problems/known_shapes.hpp"
#include "fmbem/problems/legendre_sum.hpp"

namespace fmbem {
namespace {

void add_atom(Molecule& molecule, Vec3d place, double charge, double radius) {
  Atom atom;
  atom.place = place;
  atom.charge = charge;
  atom.radius = radius;
  atom.line = molecule.atoms.size() + 1;
  atom.name = std::to_string(atom.line);
  molecule.atoms.push_back(atom);
}

/// ½ Σ q φ, φ what the sphere about the origin adds to the potential of its charges. In the terms
/// of Legendre's polynomials φ and ε∂φ/∂r go on at the radius a, where outside each is k_n(κr), a
/// modified spherical Bessel function with κa k_n'/k_n = −(n + 1) − t_n at a, t_0 = κa, t_n =
/// (κa)²/(t_(n−1) + 2n − 1).
double kirkwood_energy(double radius, const Molecule& molecule, const SolvationModel& model) {
  const double e_in = model.permittivity_inside, e_out = model.permittivity_outside,
               x = model.kappa * radius;
  double sum = 0;
  for (const Atom& one : molecule.atoms)
    for (const Atom& other : molecule.atoms) {
      const double product = norm(one.place) * norm(other.place);
      const double cosine = product > 0 ? dot(one.place, other.place) / product : 1;
      double t = x;
      sum +=
          one.charge * other.charge * legendre_sum(product / (radius * radius), cosine, [&](int n) {
            const double slope = -e_out * (n + 1 + t);
            t = x * x / (t + 2 * n + 1);
            return (slope + e_in * (n + 1)) / (e_in * n - slope);
          });
    }
  return 0.5 * model.energy_constant / (e_in * radius) * sum;
}

/// Where the ray from the origin along the unit vector leaves the union of balls that contain it.
double reach(const Molecule& molecule, Vec3d along) {
  double farthest = 0;
  for (const Atom& atom : molecule.atoms) {
    const double middle = dot(along, atom.place);
    const double half = std::sqrt(middle * middle - norm2(atom.place) + atom.radius * atom.radius);
    farthest = std::max(farthest, middle + half);
  }
  return farthest;
}

}  // namespace

StudyProblem kirkwood_sphere(int refine) {
  constexpr double radius = 4;
  StudyProblem result;
  result.mesh = unit_spheres({{}}, refine + 2);
  for (Vec3d& v : result.mesh.vertices) v = radius * v;
  Molecule& molecule = result.molecule.emplace();
  constexpr double no_radius = 1;
  add_atom(molecule, {1, 1, 1}, 1, no_radius);
  add_atom(molecule, {-1.5, 0.5, 0}, -1, no_radius);
  add_atom(molecule, {0, -1, -0.5}, 0.5, no_radius);
  result.exact_energy = [molecule](const SolvationModel& model) {
    return kirkwood_energy(radius, molecule, model);
  };
  return result;
}

StudyProblem small_molecule(int refine) {
  StudyProblem result;
  Molecule& molecule = result.molecule.emplace();
  add_atom(molecule, {}, 1, 1.5);
  // An icosahedron's vertices, at 2 Å.
  const double golden = 0.5 * (1 + std::sqrt(5.0)), scale = 2 / std::sqrt(1 + golden * golden);
  double charge = 0.4;
  for (int axis = 0; axis < 3; ++axis)
    for (const double one : {-1.0, 1.0})
      for (const double other : {-golden, golden}) {
        Vec3d place{};
        place[axis] = scale * one;
        place[(axis + 1) % 3] = scale * other;
        add_atom(molecule, place, charge, 2.2);
        charge = -charge;
      }
  result.mesh = unit_spheres({{}}, refine + 3);
  for (Vec3d& v : result.mesh.vertices) v = reach(molecule, v) * v;
  return result;
}

}  // namespace fmbem
