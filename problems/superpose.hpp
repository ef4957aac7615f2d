#pragma once

#include <span>

#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// Whether problem j of a solution has conductor j at 1 V and the others at 0, as those of
/// solve_capacitance() do, and nothing is applied.
bool has_unit_voltages(const ConductorSolution& solution);

/// The one problem of these voltages, [n conductors], from a solution that has_unit_voltages():
/// densities and charges are Σ_j V_j times those of problem j. Throws InputError for any other.
ConductorSolution superpose(const ConductorSolution& units, std::span<const double> voltages);

}  // namespace fmbem
