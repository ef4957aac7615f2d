#include "fmbem/problems/capacitance_levels.hpp"

#include <utility>

namespace fmbem {
namespace {

void estimate_error(CapacitanceOfLevels& result) {
  std::vector<SquareMatrix> maxwell;
  for (const CoarserLevel& level : result.coarser) maxwell.push_back(level.solution.maxwell);
  maxwell.push_back(result.solution.maxwell);
  std::vector<Entries> entries;
  for (const SquareMatrix& level : maxwell) entries.push_back(level.values);
  const Convergence convergence = observe_convergence(entries, highest_order(result.mesh));
  RefinementEstimate estimate{convergence, result.solution.maxwell};
  estimate.extrapolated.values = extrapolated(entries, convergence);
  result.estimate = std::move(estimate);
  result.error = estimated_error(result.solution, maxwell, convergence);
}

}  // namespace

CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const ConductorOptions& options) {
  CapacitanceOfLevels result;
  ConductorOptions of_coarser = options;
  of_coarser.inspect = nullptr;
  result.mesh = solve_coarser_levels(mesh_of_level, finest, options, [&](const SurfaceMesh& mesh) {
    CoarserLevel level{mesh.triangles.size(), solve_capacitance(mesh, of_coarser)};
    result.converged = result.converged && level.solution.converged;
    drop_densities(level.solution);
    result.coarser.push_back(std::move(level));
  });
  result.solution = solve_capacitance(result.mesh, options);
  result.converged = result.converged && result.solution.converged;
  if (!result.coarser.empty() && result.converged)
    estimate_error(result);
  else
    result.error = apparent_error(result.solution);
  return result;
}

}  // namespace fmbem
