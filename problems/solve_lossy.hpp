#pragma once

#include <vector>

#include "fmbem/problems/layer_solution.hpp"
#include "fmbem/problems/media_system.hpp"

namespace fmbem {

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
