#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "fmbem/problems/richardson.hpp"
#include "fmbem/problems/solve_capacitance.hpp"

namespace fmbem {

/// Levels below the finest that are solved for the estimate, where there are so many.
inline constexpr int coarser_levels = 2;

/// The mesh after `level` refinements, each of which halves its size.
using MeshOfLevel = std::function<SurfaceMesh(int level)>;

/// The capacitances of the finest level, and how they changed up to it.
struct CapacitanceOfLevels {
  SurfaceMesh mesh;                   ///< the finest
  CapacitanceSolution solution;       ///< on it
  std::vector<std::size_t> panels;    ///< of each level, the coarsest first
  std::vector<SquareMatrix> maxwell;  ///< farads, of each level
  bool converged = true;              ///< on every level
  /// Where there are two levels or more and all have converged.
  std::optional<RichardsonEstimate> estimate;
};

/// solve_capacitance() on the mesh of a level and on up to coarser_levels ones, which tell how fast
/// the result still changes. The mesh of `finest` is asked for first: what cannot be read or is too
/// large for the dense operator is refused before anything is solved. Throws InputError.
CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const ConductorOptions& options);

}  // namespace fmbem
