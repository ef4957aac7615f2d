#pragma once

#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// Problem j: conductor j at 1 V, the others at 0. Without a BoundaryProblem it has no results.
struct CapacitanceSolution : ProblemSolution {
  SquareMatrix maxwell;  ///< farads
  /// Of each entry, what the solver can have left: C_ij errs by Σ_k q_k r_k, q being the charges of
  /// the panels with conductor i at 1 V and r the residual's potentials with j at 1 V, and so by
  /// ‖q‖‖r‖ at the most (MediaSystem::residual_weight() has the dielectrics' part); farads.
  SquareMatrix solver_error;
};

/// Capacitance matrix of the conductors of a mesh, among dielectrics or in a homogeneous space.
/// Throws InputError for options out of range, and for floating conductors and applied fields.
CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options);

/// The same of a problem's conductors, whatever their potentials; of its other data and sources
/// nothing counts. With conductivities it is the conductance matrix, S. Throws InputError as
/// ProblemSolver does, and for floating conductors.
CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                                      const LayerOptions& options);

}  // namespace fmbem
