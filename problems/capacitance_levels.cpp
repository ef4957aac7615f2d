#include "fmbem/problems/capacitance_levels.hpp"

#include <algorithm>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

CapacitanceOfLevels solve_capacitance_levels(const MeshOfLevel& mesh_of_level, int finest,
                                             const ConductorOptions& options) {
  // Of bodies with edges and of open ones, where uniform refinement shows it.
  constexpr double closed_order = 4.0 / 3, open_order = 1;
  FMBEM_REQUIRE(finest >= 0,
                "the level of refinement must not be negative, as " << finest << " is");
  CapacitanceOfLevels result;
  const auto solve = [&](const SurfaceMesh& mesh) {
    result.solution = solve_capacitance(mesh, options);
    result.panels.push_back(mesh.triangles.size());
    result.maxwell.push_back(result.solution.maxwell);
    result.converged = result.converged && result.solution.converged;
  };
  result.mesh = mesh_of_level(finest);
  if (options.op.kind == OperatorOptions::Choice::dense)
    refuse_large_dense_operator(result.mesh.triangles.size());
  for (int level = std::max(0, finest - coarser_levels); level < finest; ++level)
    solve(mesh_of_level(level));
  solve(result.mesh);
  if (result.maxwell.size() > 1 && result.converged)
    result.estimate = richardson(result.maxwell, result.mesh.closed ? closed_order : open_order);
  return result;
}

}  // namespace fmbem
