#include "fmbem/problems/refinement_levels.hpp"

#include <algorithm>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

SurfaceMesh solve_coarser_levels(const MeshOfLevel& mesh_of_level, int finest,
                                 const LayerOptions& options,
                                 const std::function<void(const SurfaceMesh&)>& solve) {
  FMBEM_REQUIRE(finest >= 0,
                "the level of refinement must not be negative, as " << finest << " is");
  SurfaceMesh mesh = mesh_of_level(finest);
  if (options.op.kind == OperatorOptions::Choice::dense)
    refuse_large_dense_operator(mesh.triangles.size());
  for (int level = std::max(0, finest - coarser_levels); level < finest; ++level)
    solve(mesh_of_level(level));
  return mesh;
}

void drop_densities(ConductorSolution& solution) {
  solution.panels = {};
  solution.sigma.clear();
  solution.charge_density.clear();
}

void drop_densities(ProblemSolution& solution) {
  drop_densities(static_cast<ConductorSolution&>(solution));
  solution.results.clear();
}

double highest_order(const SurfaceMesh& mesh) { return mesh.closed ? 2 : 1; }

}  // namespace fmbem
