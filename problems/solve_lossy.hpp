#pragma once

#include <vector>

#include "fmbem/problems/layer_solution.hpp"
#include "fmbem/problems/lossy_system.hpp"

namespace fmbem {

/// Numbers of one problem of a LossySystem.
struct LossyData {
  /// [n panels]: φ in V, 0 on what floats, or what a panel gives off, in relative permittivities
  /// times V per unit of length.
  std::vector<Complex> given;
  std::vector<Complex> charge;  ///< [conductors]: C of those that float
};

struct LossySolution {
  std::vector<std::vector<Complex>> sigma;  ///< [n problems][n panels], V per unit of length
  std::vector<SolveReport> solves;          ///< [n problems]
  OperatorInfo op;                          ///< after the solve
};

/// Solves for each of the data. Throws InputError for options out of range and data that the system
/// refuses.
LossySolution solve_lossy(LossySystem& system, const std::vector<LossyData>& data,
                          const LayerOptions& options = {});

}  // namespace fmbem
