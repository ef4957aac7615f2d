#include <limits>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/problem_regions.hpp"
#include "fmbem/problems/region_dirichlet.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

ProblemField problem_field(const SurfaceMesh& mesh, const ProblemSolution& solution,
                           std::size_t result, std::span<const Vec3d> points,
                           const FieldOptions& options) {
  FMBEM_REQUIRE(result < solution.results.size(),
                "the solution has no result " << result << " (counted from 0)");
  const BoundaryProblem& problem = solution.problem;
  const ProblemResult& of = solution.results[result];
  const std::vector<double>& sigma = solution.sigma[result];
  const AppliedField& all_applied = of.is_imaginary ? solution.imaginary_applied : solution.applied;
  const PanelSides sides = sides_of_panels(mesh, solution.panels, resolve_groups(mesh, problem));
  const RegionFinder finder(problem, solution.panels, sides);

  FMBEM_REQUIRE(!options.gradient_of_e || solution.dipoles.empty(),
                "gradients of E are there for the single layer alone, not for a formulation with "
                "dipoles");
  FieldOptions how = options;
  if (!how.processor) how.processor = solution.op.processor;
  ProblemField field{
      solution.dipoles.empty()
          ? evaluate_field(solution.panels, sigma, points, how)
          : dirichlet_field(solution.panels, {sigma, solution.dipoles[result], {}}, points, how),
      {}};
  field.region = finder.regions_at(points);
  const bool applied = of.applied && !all_applied.empty();
  const auto n = static_cast<std::int64_t>(points.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    double& potential = field.potential[i];
    Vec3d& e = field.e[i];
    e = e / solution.scale_to_m;
    if (options.gradient_of_e)
      field.gradient_of_e[i] =
          1 / (solution.scale_to_m * solution.scale_to_m) * field.gradient_of_e[i];
    if (field.region[i] == no_region) {
      potential = std::numeric_limits<double>::quiet_NaN();
      e = {potential, potential, potential};
      if (options.gradient_of_e)
        field.gradient_of_e[i] = {potential, potential, potential, potential, potential, potential};
      continue;
    }
    potential += of.constant[field.region[i]];
    if (!applied) continue;
    potential += all_applied.potential(points[i], solution.scale_to_m);
    e += all_applied.field(points[i], solution.scale_to_m);
    if (options.gradient_of_e)
      field.gradient_of_e[i] += all_applied.gradient(points[i], solution.scale_to_m);
  }
  return field;
}

}  // namespace fmbem
