#include "fmbem/problems/capacitance_levels.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

CoarserLevel solve_coarser(const SurfaceMesh& mesh, const ConductorOptions& options) {
  CoarserLevel level{mesh.triangles.size(), solve_capacitance(mesh, options)};
  level.solution.panels = {};
  level.solution.sigma.clear();
  level.solution.charge_density.clear();
  return level;
}

void estimate_error(CapacitanceOfLevels& result) {
  // What uniform refinement ends up with: at open edges the density is infinite.
  constexpr double order_of_smooth_bodies = 2, order_of_open_ones = 1;
  std::vector<SquareMatrix> maxwell;
  for (const CoarserLevel& level : result.coarser) maxwell.push_back(level.solution.maxwell);
  maxwell.push_back(result.solution.maxwell);
  const Convergence convergence = observe_convergence(
      maxwell, result.mesh.closed ? order_of_smooth_bodies : order_of_open_ones);
  result.estimate = {convergence, extrapolated(maxwell, convergence)};
  result.error = estimated_error(result.solution, maxwell, convergence);
}

}  // namespace

CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const ConductorOptions& options) {
  FMBEM_REQUIRE(finest >= 0,
                "the level of refinement must not be negative, as " << finest << " is");
  CapacitanceOfLevels result;
  result.mesh = mesh_of_level(finest);
  if (options.op.kind == OperatorOptions::Choice::dense)
    refuse_large_dense_operator(result.mesh.triangles.size());
  for (int level = std::max(0, finest - coarser_levels); level < finest; ++level)
    result.coarser.push_back(solve_coarser(mesh_of_level(level), options));
  result.solution = solve_capacitance(result.mesh, options);
  result.converged =
      std::all_of(result.coarser.begin(), result.coarser.end(),
                  [](const CoarserLevel& level) { return level.solution.converged; });
  result.converged = result.converged && result.solution.converged;
  if (!result.coarser.empty() && result.converged)
    estimate_error(result);
  else
    result.error = apparent_error(result.solution);
  return result;
}

}  // namespace fmbem
