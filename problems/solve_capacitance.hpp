#pragma once

#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// Problem j: conductor j at 1 V, the others at 0.
struct CapacitanceSolution : ConductorSolution {
  SquareMatrix maxwell;  ///< farads
};

/// Capacitance matrix of the conductors of a mesh in a homogeneous unbounded space.
/// Throws InputError for options out of range.
CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const ConductorOptions& options);

}  // namespace fmbem
