#pragma once

#include <optional>
#include <vector>

#include "fmbem/problems/capacitance_error.hpp"
#include "fmbem/problems/refinement_levels.hpp"

namespace fmbem {

/// How the results converge as the mesh is refined.
struct RefinementEstimate {
  Convergence convergence;
  SquareMatrix extrapolated;  ///< Maxwell's form, farads
};

/// A level below the finest.
struct CoarserLevel {
  std::size_t panels = 0;
  CapacitanceSolution solution;  ///< without panels and densities
};

/// The capacitances of the finest level, and how they changed up to it.
struct CapacitanceOfLevels {
  SurfaceMesh mesh;                   ///< the finest
  CapacitanceSolution solution;       ///< on it
  std::vector<CoarserLevel> coarser;  ///< the coarsest first
  bool converged = true;              ///< on every level
  /// Where there are two levels or more and all have converged.
  std::optional<RefinementEstimate> estimate;
  CapacitanceError error;  ///< estimated_error() if there is an estimate, else apparent_error()
};

/// solve_capacitance() on the mesh of a level and on those of solve_coarser_levels(), which tell
/// how fast the result still changes, and which throws as this does.
CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const ConductorOptions& options);
/// The same of a problem.
CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const BoundaryProblem& problem,
                                             const LayerOptions& options);

}  // namespace fmbem
