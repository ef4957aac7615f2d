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

template <class Solve>
CapacitanceOfLevels solve_levels(const MeshOfLevel& mesh_of_level, int finest,
                                 const LayerOptions& options, Solve&& solve) {
  CapacitanceOfLevels result;
  result.mesh = solve_coarser_levels(mesh_of_level, finest, options, [&](const SurfaceMesh& mesh) {
    CoarserLevel level{mesh.triangles.size(), solve(mesh)};
    result.converged = result.converged && level.solution.converged;
    drop_densities(level.solution);
    result.coarser.push_back(std::move(level));
  });
  result.solution = solve(result.mesh);
  result.converged = result.converged && result.solution.converged;
  if (!result.coarser.empty() && result.converged)
    estimate_error(result);
  else
    result.error = apparent_error(result.solution);
  return result;
}

}  // namespace

CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const ConductorOptions& options) {
  return solve_levels(mesh_of_level, finest, options,
                      [&](const SurfaceMesh& mesh) { return solve_capacitance(mesh, options); });
}

CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const BoundaryProblem& problem,
                                             const LayerOptions& options) {
  return solve_levels(mesh_of_level, finest, options, [&](const SurfaceMesh& mesh) {
    return solve_capacitance(mesh, problem, options);
  });
}

}  // namespace fmbem
