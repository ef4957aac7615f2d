#include "fmbem/problems/charge_levels.hpp"

#include <utility>

namespace fmbem {
ChargesOfLevels solve_charge_levels(const MeshOfLevel& mesh_of_level, int finest,
                                    const LayerOptions& options, const SolveOnMesh& solve) {
  ChargesOfLevels result;
  std::vector<Entries> charges;
  result.mesh = solve_coarser_levels(mesh_of_level, finest, options, [&](const SurfaceMesh& mesh) {
    ConductorSolution solution = solve(mesh);
    charges.push_back(conductor_charges(mesh, solution)[0]);
    result.converged = result.converged && solution.converged;
    drop_densities(solution);
    result.coarser.push_back({mesh.triangles.size(), std::move(solution), charges.back()});
  });
  result.solution = solve(result.mesh);
  result.charges = conductor_charges(result.mesh, result.solution)[0];
  charges.push_back(result.charges);
  result.converged = result.converged && result.solution.converged;
  if (charges.size() > 1 && result.converged) {
    result.convergence = observe_convergence(charges, highest_order(result.mesh));
    result.error = discretization_error(charges, *result.convergence);
  }
  return result;
}

}  // namespace fmbem
