#pragma once

#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// Problem j: conductor j at 1 V, the others at 0.
struct CapacitanceSolution : ConductorSolution {
  SquareMatrix maxwell;  ///< farads
  /// Of each entry, what the solver can have left: C_ij errs by Σ_k q_k r_k, q being the charges of
  /// the panels with conductor i at 1 V and r the residual's potentials with j at 1 V, and so by
  /// ‖q‖‖r‖ at the most (MediaSystem::residual_weight() has the dielectrics' part); farads.
  SquareMatrix solver_error;
};

/// Capacitance matrix of the conductors of a mesh, among dielectrics or in a homogeneous space.
/// Throws InputError for options out of range, and for floating conductors and applied fields.
CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options);

}  // namespace fmbem
