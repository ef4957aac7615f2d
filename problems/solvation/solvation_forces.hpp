#pragma once

#include <string>
#include <vector>

#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem {

/// On a molecule with all that lies in its surface, or in that of its layer without ions where it
/// is alone in one: kcal/(mol Å), and torque about `about`, kcal/mol.
struct SoluteForce {
  std::string name;     ///< of that surface
  Vec3d about;          ///< the mean of its atoms' places
  Vec3d force, torque;  ///< of all that lies outside of that surface
  Vec3d on_charges;     ///< in the reaction field; what they do to each other adds up to nothing
  Vec3d on_surfaces;    ///< of the pressures; this and on_charges add up to the force
};

struct SolvationForces {
  std::vector<Vec3d> on_atoms;  ///< [n atoms], kcal/(mol Å): charge times reaction field
  /// [n panels] in the order of Panels, along their normals, kcal/(mol Å³).
  std::vector<double> dielectric_pressure, osmotic_pressure;
  std::vector<SoluteForce> solutes;  ///< from outside in
};

/// Forces of the reaction field on atoms, and on surfaces by the jump of the stress
///
///     T = c (ε (E Eᵀ − ½ E²) − ½ ε κ² φ²),   c = 1/(4π energy constant),
///
/// Maxwell's with the osmotic pressure of the ions [Gilson, Davis, Luty and McCammon 1993, J. Phys.
/// Chem. 97]. As ε E_n and E along the surface are continuous it is along the normal, and with the
/// sides ahead (a) and behind (b) of it
///
///     f = ½ c ((ε_b E_n)² (1/ε_a − 1/ε_b) − (ε_a − ε_b) E_t² − (ε_a κ_a² − ε_b κ_b²) φ²),
///
/// the last of which is the osmotic part. E_t is surface_gradient() of φ.
///
/// What a molecule makes of this by itself, large forces on its atoms and its surface, adds up to
/// nothing but their errors. So the force on a molecule as a whole is that of the part of the
/// stress on its surface, seen from the region around it, that is made by its own field E_s (what
/// its panels give in Green's identity of that region) together with that of the others E_o:
///
///     F = c ε ∫ E_s (E_o·n) + E_o (E_s·n) − (E_s·E_o) n − κ² φ_s φ_o n dS,
///
/// φ_o and E_o being what the others' panels give in that identity, and E_s what is left of the
/// solved field, whose part along the surface is surface_gradient(). This is the derivative of the
/// total energy where the molecule moves with its atoms and surfaces, and all others stay: the
/// surface of a layer that several molecules share, and that of a cavity in which the molecule
/// lies, is another's. Errors fall with the square of the panels' size on smooth surfaces, those of
/// pressures and of what is close to another surface linearly; on atoms closer to the surface than
/// a panel's size it is the field of constant densities. O(molecules · panels + atoms).
SolvationForces find_solvation_forces(const Solvation& solved, const Molecule& molecule);

}  // namespace fmbem
