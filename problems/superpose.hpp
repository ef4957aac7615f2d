#pragma once

#include <span>

#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// Whether problem j of a solution has conductor j at 1 V and the others at 0, as those of
/// solve_capacitance() do, and nothing is applied.
bool has_unit_voltages(const ConductorSolution& solution);

/// The one problem of these voltages, [n conductors], from a solution that has_unit_voltages():
/// densities and charges are Σ_j V_j times those of problem j. Throws InputError for any other.
ConductorSolution superpose(const ConductorSolution& units, std::span<const double> voltages);

/// Whether each conductor of a problem is at 1 V in one of the results, and there is at most one
/// other result, which is then the problem's own. Without results as above.
bool has_unit_voltages(const ProblemSolution& solution);

/// One result, in which these are the conductors' potentials and all else is as in the problem's
/// own result, or 0 without one: Σ_j (V_j − φ_j) times those at 1 V are added to that, φ being its
/// potentials. Throws InputError for solutions without unit voltages.
ProblemSolution superpose(const ProblemSolution& solution, std::span<const double> voltages);

}  // namespace fmbem
