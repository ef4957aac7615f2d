#include <limits>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/problem_regions.hpp"
#include "fmbem/problems/region_dirichlet.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {
namespace {

/// evaluate(points, side) of each point from the side that its place says.
template <class Evaluate>
Field field_from_sides(std::span<const RegionFinder::Place> places, std::span<const Vec3d> points,
                       const Evaluate& evaluate) {
  Field field{std::vector<double>(points.size()), std::vector<Vec3d>(points.size()), {}};
  for (const Side side : {Side::mean, Side::positive, Side::negative}) {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (places[i].side == side) chosen.push_back(i);
    if (chosen.size() == points.size()) return evaluate(points, side);
    if (chosen.empty()) continue;
    std::vector<Vec3d> at;
    for (const std::size_t i : chosen) at.push_back(points[i]);
    const Field seen = evaluate(at, side);
    if (!seen.gradient_of_e.empty()) field.gradient_of_e.resize(points.size());
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      field.potential[chosen[k]] = seen.potential[k];
      field.e[chosen[k]] = seen.e[k];
      if (!seen.gradient_of_e.empty()) field.gradient_of_e[chosen[k]] = seen.gradient_of_e[k];
    }
  }
  field.count_singular();
  return field;
}

}  // namespace

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
  const auto evaluate = [&](std::span<const Vec3d> at, Side side) {
    FieldOptions how = options;
    how.side = side;
    if (!how.processor) how.processor = solution.op.processor;
    return solution.dipoles.empty()
               ? evaluate_field(solution.panels, sigma, at, how)
               : dirichlet_field(solution.panels, {sigma, solution.dipoles[result], {}}, at, how);
  };
  const std::vector<RegionFinder::Place> places = finder.places_of(points, options.side);
  ProblemField field{field_from_sides(places, points, evaluate), {}};
  for (const RegionFinder::Place& place : places) field.region.push_back(place.region);
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
