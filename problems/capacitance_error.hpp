#pragma once

#include <span>

#include "fmbem/problems/richardson.hpp"
#include "fmbem/problems/solve_capacitance.hpp"

namespace fmbem {

/// Errors of the entries of both forms, farads.
struct CapacitanceError {
  SquareMatrix maxwell, mutual;
};

/// What one solution says of its own errors: `solver_error`, and where they show. C_ij and C_ji are
/// the same in truth, and without the diagonal none of them is positive, so that what is positive
/// is wrong by all of itself; so is a capacitor that is negative. All else of the discretization
/// stays unknown.
CapacitanceError apparent_error(const CapacitanceSolution& solution);

/// The same with estimates of the discretization error from results on coarser meshes, the coarsest
/// first and `solution` last, each on a mesh of half the size of the one before.
CapacitanceError estimated_error(const CapacitanceSolution& solution,
                                 std::span<const SquareMatrix> maxwell,
                                 const Convergence& convergence);

}  // namespace fmbem
