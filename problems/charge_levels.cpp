#include "fmbem/problems/charge_levels.hpp"

#include <utility>

namespace fmbem {
namespace {

/// One problem; the voltages are asked for when the conductors are known.
ConductorSolution solve_at(const SurfaceMesh& mesh, const ConductorOptions& options,
                           const VoltagesOf& voltages) {
  return solve_conductors(
      mesh, options, {voltages(make_conductors(mesh, options.conductors, options.interfaces))});
}

}  // namespace

ChargesOfLevels solve_charge_levels(const MeshOfLevel& mesh_of_level, int finest,
                                    const ConductorOptions& options, const VoltagesOf& voltages) {
  ChargesOfLevels result;
  std::vector<Entries> charges;
  ConductorOptions of_coarser = options;
  of_coarser.inspect = nullptr;
  result.mesh = solve_coarser_levels(mesh_of_level, finest, options, [&](const SurfaceMesh& mesh) {
    ConductorSolution solution = solve_at(mesh, of_coarser, voltages);
    charges.push_back(conductor_charges(mesh, solution)[0]);
    result.converged = result.converged && solution.converged;
    drop_densities(solution);
    result.coarser.push_back({mesh.triangles.size(), std::move(solution), charges.back()});
  });
  result.solution = solve_at(result.mesh, options, voltages);
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
