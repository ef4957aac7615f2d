#pragma once

#include <numbers>

#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"
#include "fmbem/problems/solvation/solute_regions.hpp"

namespace fmbem {

/// e²/(4πε₀) in kcal Å/mol, CODATA 2018.
inline constexpr double energy_constant_of_codata = 332.0637133;
inline constexpr double kilojoules_in_kilocalorie = 4.184;

/// What surrounds the molecule, and the units of energies.
struct SolvationModel {
  double permittivity_inside = 4, permittivity_outside = 80;  ///< relative
  double kappa = 0;                                           ///< of the solvent, 1/Å
  double temperature = 298.15;                                ///< K
  double energy_constant = energy_constant_of_codata;         ///< kcal Å/(mol e²)
  SolvationFormulation formulation = SolvationFormulation::direct;

  double permittivity_in(SoluteRegion::Kind kind) const;
  double kappa_in(SoluteRegion::Kind kind) const;
  /// The potential of a unit charge in vacuum is this times 1/(4πr): kcal Å/(mol e).
  double unit_of_potential() const { return 4 * std::numbers::pi * energy_constant; }
  /// k T in kcal/mol.
  double thermal_energy() const;
  /// Throws InputError for permittivities, temperatures and constants that are not positive and
  /// for a negative κ.
  void check() const;
  bool operator==(const SolvationModel&) const = default;
};

/// κ in 1/Å of a salt of single charges: κ² = 2000 N_A e² I/(ε₀ ε k T) with the ionic strength I in
/// mol/L (Debye and Hückel 1923). Throws InputError for a negative I.
double kappa_of(double ionic_strength, double permittivity, double temperature);

}  // namespace fmbem
