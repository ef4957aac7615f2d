#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fmbem/problems/layer_solution.hpp"
#include "fmbem/problems/media_system.hpp"
#include "fmbem/problems/problem_conditions.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// A problem as equations of some formulation, with the solver for them.
class ProblemEquations {
 public:
  virtual ~ProblemEquations() = default;
  /// What a panel's number among the data means: what it gives off, else its potential. Nothing
  /// where a conductor has its charge given.
  virtual bool gives_flux(std::size_t i) const = 0;
  virtual bool has_charge_given(std::size_t i) const = 0;
  /// Solves for data, whose names are those of the results, and adds all to the solution.
  virtual void solve(const std::vector<std::string>& names, const std::vector<PanelData>& data) = 0;
};

/// By one single layer on all surfaces, which MediaSystem or, with losses, LossySystem has. A
/// conductor that is driven (ProblemConditions) is solved for at 1 V besides; of all these
/// solutions that combination counts by which the charges are what is given. What they are given
/// must outlive the equations.
std::unique_ptr<ProblemEquations> make_layer_equations(const ProblemParts& parts,
                                                       LayerSolver& solver,
                                                       ProblemSolution& solution);

/// By DirichletEquations. Throws InputError, with a sentence, for all but potentials that are given
/// on the whole boundary of one region.
std::unique_ptr<ProblemEquations> make_dirichlet_problem(const ProblemParts& parts,
                                                         LayerSolver& solver,
                                                         ProblemSolution& solution);

}  // namespace fmbem
