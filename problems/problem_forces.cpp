#include "fmbem/problems/problem_forces.hpp"

#include <algorithm>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/problem_regions.hpp"

namespace fmbem {

void check_forces(const BoundaryProblem& problem) {
  FMBEM_REQUIRE(!problem.conducts(),
                "forces are those of charges, and the regions have conductivities: give them "
                "permittivities");
  FMBEM_REQUIRE(!problem.has_losses(),
                "forces are for real permittivities: leave out the imaginary parts, or the forces");
  FMBEM_REQUIRE(problem.formulation == ProblemFormulation::single,
                "forces need the charges of the single layer: leave \"formulation\" out");
  for (const ProblemSource& source : problem.sources)
    FMBEM_REQUIRE(source.kind == ProblemSource::Kind::charge,
                  "forces on dipoles and lines among the sources are not found: put point charges "
                  "in their place");
}

namespace {

PanelMedia media_of(const BoundaryProblem& problem, const PanelSides& sides,
                    std::span<const ResolvedGroup> groups, const SurfaceMesh& mesh,
                    const Panels& panels) {
  PanelMedia media;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int group = mesh.group_of[panels.input_index[i]];
    media.is_interface.push_back(groups[group].condition->kind == GroupCondition::Kind::interface);
    media.ahead.push_back(coefficient_in<double>(problem, sides.outside[i]));
    media.behind.push_back(coefficient_in<double>(problem, sides.inside[i]));
  }
  return media;
}

}  // namespace

Forces problem_forces(const SurfaceMesh& mesh, const ProblemSolution& solution, std::size_t result,
                      const std::vector<BodyOfGroups>& bodies, const ForceOptions& options) {
  const BoundaryProblem& problem = solution.problem;
  check_forces(problem);
  const std::vector<ResolvedGroup> groups = resolve_groups(mesh, problem);
  const PanelSides sides = sides_of_panels(mesh, solution.panels, groups);
  const PanelMedia media = media_of(problem, sides, groups, mesh, solution.panels);
  const auto is_wall = [&](const std::string& name) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (mesh.groups[g].name == name && groups[g].outside == no_region) return true;
    return false;
  };
  std::vector<BodyOfGroups> all = bodies;
  if (bodies.empty()) {
    all = bodies_of_solution(mesh, solution, media.is_interface);
    std::erase_if(all, [&](const BodyOfGroups& body) {
      return std::all_of(body.groups.begin(), body.groups.end(), is_wall);
    });
  }
  AppliedField applied = solution.applied;
  if (result < solution.results.size() && !solution.results[result].applied)
    applied = {.unit = applied.unit};
  Forces forces = forces_on_groups(mesh, solution, applied, result, all, media, options);
  for (const BodyForce& force : forces.bodies)
    FMBEM_REQUIRE(force.permittivity > 0,
                  "the body \"" << force.name
                                << "\" has no region around it, so that no force on it is defined: "
                                   "leave it out");
  return forces;
}

}  // namespace fmbem
