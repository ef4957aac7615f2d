#pragma once

// Molecules in spheres, and closed forms of them.
#include <cmath>
#include <vector>

#include "fmbem/meshes/join.hpp"
#include "fmbem/problems/solvation/solvation.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test {

inline Atom atom_at(Vec3d place, double charge = 1) {
  Atom atom;
  atom.place = place;
  atom.charge = charge;
  atom.name = "ION";
  atom.residue = "ION";
  atom.residue_number = "1";
  atom.line = 1;
  return atom;
}
inline Molecule molecule_of(std::vector<Atom> atoms) {
  for (std::size_t a = 0; a < atoms.size(); ++a) atoms[a].line = a + 1;
  return {std::move(atoms), "m.pqr", {}};
}

inline SurfaceMesh named_sphere(const char* name, int level, double radius, Vec3d centre = {}) {
  SurfaceMesh mesh = sphere(level, radius, centre);
  mesh.file = name;
  mesh.unit = "angstrom";
  return mesh;
}

/// The reaction potential at a point in a dielectric sphere, of a unit charge in it, with ions
/// around: Legendre's series, by matching φ and ε∂φ/∂r [Kirkwood 1934, J. Chem. Phys. 2]. With
/// k_n the modified spherical Bessel functions and t_n = x k_{n−1}/k_n, which is
/// x²/(t_{n−1} + 2n − 1), x k_n'/k_n is −(n+1) − t_n.
inline double kirkwood(double radius, Vec3d charge, Vec3d at, const SolvationModel& model) {
  const double x = model.kappa * radius, e_in = model.permittivity_inside;
  const double ratio = norm(charge) * norm(at) / (radius * radius);
  const double cosine = ratio > 0 ? dot(charge, at) / (norm(charge) * norm(at)) : 1;
  double sum = 0, t = x, power = 1, before = 0, legendre = 1;
  for (int n = 0; n < 300; ++n) {
    const double g = -model.permittivity_outside * (n + 1 + t) / e_in;
    sum += (n + 1 + g) / (n - g) * power * legendre;
    t = x * x / (t + 2 * n + 1);
    power *= ratio;
    const double next = ((2 * n + 1) * cosine * legendre - n * before) / (n + 1);
    before = legendre;
    legendre = next;
  }
  return model.energy_constant / e_in / radius * sum;
}

inline Solvation solvate_in(const std::vector<SurfaceMesh>& surfaces,
                            const std::vector<Atom>& atoms, const SolvationModel& model = {},
                            double tolerance = 1e-9) {
  LayerOptions options;
  options.solver.tolerance = tolerance;
  return solvate(join_meshes(surfaces), molecule_of(atoms), model, options);
}

}  // namespace fmbem::test
