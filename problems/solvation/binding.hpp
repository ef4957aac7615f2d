#pragma once

#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem {

/// What energies of a complex are less those of its two parts, each alone in the solvent; kcal/mol.
struct BindingEnergies {
  double solvation = 0, coulomb = 0;
  /// Of the solves and products, not of the meshes: the sum over all three of |solvation energy|
  /// times what is left of the residual and the operator's tolerance, and of |Coulomb energy| times
  /// PointCharges::tolerance_of_own.
  double error = 0;
  double total() const { return solvation + coulomb; }
};

/// Throws InputError where the three were not solved for in the same model.
BindingEnergies find_binding(const Solvation& complex, const Solvation& receptor,
                             const Solvation& ligand);

}  // namespace fmbem
