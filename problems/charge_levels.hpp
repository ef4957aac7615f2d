#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "fmbem/problems/refinement_levels.hpp"
#include "fmbem/problems/richardson.hpp"

namespace fmbem {

/// Solves one problem on a mesh.
using SolveOnMesh = std::function<ConductorSolution(const SurfaceMesh&)>;

struct ChargeLevel {
  std::size_t panels = 0;
  ConductorSolution solution;   ///< without panels and densities
  std::vector<double> charges;  ///< coulombs
};

/// Conductors at given voltages on the finest level, and how their charges changed up to it.
struct ChargesOfLevels {
  SurfaceMesh mesh;                  ///< the finest
  ConductorSolution solution;        ///< on it, with one problem
  std::vector<double> charges;       ///< coulombs
  std::vector<ChargeLevel> coarser;  ///< the coarsest first
  bool converged = true;             ///< on every level
  /// Where there are two levels or more and all have converged.
  std::optional<Convergence> convergence;
  std::vector<double> error;  ///< then, of the discretization alone; coulombs
};

/// `solve` on the mesh of a level, and before on those of solve_coarser_levels(), which throws as
/// this does.
ChargesOfLevels solve_charge_levels(const MeshOfLevel& mesh_of_level, int finest,
                                    const LayerOptions& options, const SolveOnMesh& solve);

}  // namespace fmbem
