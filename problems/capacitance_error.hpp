#pragma once

#include <span>

#include "fmbem/problems/richardson.hpp"
#include "fmbem/problems/solve_capacitance.hpp"

namespace fmbem {

/// Errors of the entries of both forms, farads.
struct CapacitanceError {
  SquareMatrix maxwell, mutual;
};

/// What one solution shows of its own errors: `solver_error`, and contradictions. In truth C_ij and
/// C_ji are the same, and entries off the diagonal are not positive: what is positive is wrong by
/// all of itself, and so is a capacitor that is negative. The rest of the discretization error
/// stays unknown.
CapacitanceError apparent_error(const CapacitanceSolution& solution);

/// The same with estimates of the discretization error from results on coarser meshes, the coarsest
/// first and `solution` last, each on a mesh of half the size of the one before.
CapacitanceError estimated_error(const CapacitanceSolution& solution,
                                 std::span<const SquareMatrix> maxwell,
                                 const Convergence& convergence);

}  // namespace fmbem
