#pragma once

#include <span>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/pqr_file.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/layer_solution.hpp"
#include "fmbem/problems/solvation/charge_sets.hpp"
#include "fmbem/problems/solvation/solute_regions.hpp"
#include "fmbem/problems/solvation/solvation_model.hpp"

namespace fmbem {

/// Potentials φ in kcal/(mol e), multiply by a charge in e to have an energy; lengths in Å.
struct Solvation : LayerSolution {
  SolvationModel model;
  SoluteRegions regions;
  LargeVector<double> potential;     ///< [n panels], in the order of Panels
  LargeVector<double> normal_field;  ///< [n panels]: −∂φ/∂n at the back of the panel, per Å
  std::vector<double> reaction;      ///< [n atoms], what surfaces add to the charges' own φ
  double solvation_energy = 0;       ///< ½ Σ q φ of reaction, kcal/mol
  double coulomb_energy = 0;         ///< of the charges of each solute in its permittivity
  double total_energy() const { return solvation_energy + coulomb_energy; }
  /// Of charge sets: Σ_i q_i φ(x_i) of the first one's charges in the reaction potential of the
  /// second's, kcal/mol. It is symmetric but for the error of the discretization; ½ of a diagonal
  /// entry is the set's own solvation energy.
  SquareMatrix site_energies{0};
  double potential_seconds = 0;  ///< of what follows the solve
};

/// The linearised Poisson-Boltzmann equation for a molecule in its surfaces, in the model's
/// formulation. Lengths are in Å, whatever the mesh's unit says. Throws InputError as
/// find_solute_regions() does, for charges at one place, and for charges of sets that are in no
/// solute. Each of `sites`, on the same operator, is one more right-hand side.
Solvation solvate(const SurfaceMesh& mesh, const Molecule& molecule, const SolvationModel& model,
                  const LayerOptions& options = {}, std::span<const ChargeSet> sites = {});

}  // namespace fmbem
