#include "fmbem/problems/conductor_forces.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

void check_problem(const ConductorSolution& solution, std::size_t problem) {
  FMBEM_REQUIRE(problem < solution.sigma.size(),
                "the solution has no problem " << problem << " (counted from 0)");
}

/// [groups], −1 of those in no body.
std::vector<int> body_of_groups(const SurfaceMesh& mesh, const std::vector<BodyOfGroups>& bodies) {
  std::vector<int> body_of(mesh.groups.size(), -1);
  for (std::size_t b = 0; b < bodies.size(); ++b)
    for (const std::string& name : bodies[b].groups) {
      bool found = false;
      for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
        if (mesh.groups[g].name != name) continue;
        FMBEM_REQUIRE(body_of[g] < 0 || body_of[g] == static_cast<int>(b),
                      "the group \"" << name << "\" belongs to two bodies, \""
                                     << bodies[body_of[g]].body.name << "\" and \""
                                     << bodies[b].body.name << "\"");
        body_of[g] = static_cast<int>(b);
        found = true;
      }
      FMBEM_REQUIRE(found, "the mesh has no group \"" << name << "\" for the body \""
                                                      << bodies[b].body.name << "\"");
    }
  return body_of;
}

/// What a group has on a side.
double permittivity_beside(const SurfaceMesh& mesh, const ConductorOptions& options, int group,
                           double Media::*side) {
  for (const Media& media : options.media)
    if (media.group == mesh.groups[group].name) return media.*side;
  return options.permittivity;
}

}  // namespace

std::vector<BodyOfGroups> bodies_of_solution(const SurfaceMesh& mesh,
                                             const ConductorSolution& solution,
                                             std::span<const char> is_interface) {
  std::vector<BodyOfGroups> bodies;
  for (const Conductor& conductor : solution.conductors)
    bodies.push_back({{conductor.name}, conductor.groups});
  std::vector<int> group_of(solution.panels.size());
  for (std::size_t i = 0; i < group_of.size(); ++i)
    group_of[i] = mesh.group_of[solution.panels.input_index[i]];
  std::vector<char> open(mesh.groups.size(), 1);
  const Enclosures enclosures = find_enclosures(solution.panels, group_of);
  for (const Enclosure& part : enclosures.parts)
    if (is_interface[part.first]) open[group_of[part.first]] = 0;
  for (const Enclosure& part : enclosures.parts)
    if (!part.closed) open[group_of[part.first]] = 1;
  for (std::size_t g = 0; g < open.size(); ++g)
    if (!open[g]) bodies.push_back({{mesh.groups[g].name}, {mesh.groups[g].name}});
  return bodies;
}

Forces forces_on_groups(const SurfaceMesh& mesh, const ConductorSolution& solution,
                        const AppliedField& applied, std::size_t problem,
                        const std::vector<BodyOfGroups>& bodies, const PanelMedia& media,
                        const ForceOptions& options) {
  check_problem(solution, problem);
  const Panels& panels = solution.panels;
  const std::vector<int> body_of_group = body_of_groups(mesh, bodies);
  std::vector<int> body_of;
  for (std::size_t i = 0; i < panels.size(); ++i)
    body_of.push_back(body_of_group[mesh.group_of[panels.input_index[i]]]);
  std::vector<Body> named;
  for (const BodyOfGroups& body : bodies) named.push_back(body.body);
  return find_forces({{panels, body_of, media.is_interface, media.behind, media.ahead},
                      solution.sigma[problem],
                      named,
                      applied,
                      solution.scale_to_m},
                     options);
}

Forces conductor_forces(const SurfaceMesh& mesh, const ConductorOptions& options,
                        const ConductorSolution& solution, std::size_t problem,
                        const std::vector<BodyOfGroups>& bodies,
                        const ForceOptions& force_options) {
  const Panels& panels = solution.panels;
  PanelMedia media;
  for (const int conductor : conductor_of_panels(mesh, panels, solution.conductors))
    media.is_interface.push_back(conductor < 0);
  std::vector<double> behind_group, ahead_group;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const int group = static_cast<int>(g);
    behind_group.push_back(permittivity_beside(mesh, options, group, &Media::behind));
    ahead_group.push_back(permittivity_beside(mesh, options, group, &Media::ahead));
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int group = mesh.group_of[panels.input_index[i]];
    media.behind.push_back(behind_group[group]);
    media.ahead.push_back(ahead_group[group]);
  }
  return forces_on_groups(
      mesh, solution, solution.applied, problem,
      bodies.empty() ? bodies_of_solution(mesh, solution, media.is_interface) : bodies, media,
      force_options);
}

Energy conductor_energy(const SurfaceMesh& mesh, const ConductorOptions& options,
                        const ConductorSolution& solution, std::size_t problem) {
  check_problem(solution, problem);
  Energy energy;
  const std::vector<double> charges = conductor_charges(mesh, solution)[problem];
  for (std::size_t c = 0; c < charges.size(); ++c)
    energy.conductors += 0.5 * charges[c] * solution.potential[problem][c];

  const AppliedField& applied = solution.applied;
  const double scale = solution.scale_to_m;
  const auto in_uniform = [&](Vec3d x) { return -scale * dot(applied.uniform, x - applied.zero); };
  std::vector<Vec3d> places;
  const auto& images = solution.panels.images;
  const std::size_t own_charges = applied.charges.size() / (images ? images->reflections : 1);
  for (std::size_t k = 0; k < own_charges; ++k) places.push_back(applied.charges[k].place);
  const std::vector<double> potential =
      evaluate_field(solution.panels, solution.sigma[problem], places, {.tolerance = 0}).potential;
  double in_field = 0;  // of all charges, over ε₀
  for (std::size_t k = 0; k < places.size(); ++k) {
    AppliedField rest = applied;
    rest.charges.erase(rest.charges.begin() + static_cast<std::ptrdiff_t>(k));
    const PointCharge& q = applied.charges[k];
    energy.charges += 0.5 * q.charge * (potential[k] + rest.potential(places[k], scale));
    in_field += q.charge / (epsilon_0 * q.permittivity) * in_uniform(places[k]);
  }
  const Panels& panels = solution.panels;
  for (std::size_t i = 0; i < panels.size(); ++i)
    in_field += scale * solution.sigma[problem][i] * panels.area(i) *
                in_uniform(panels.centroid(i) + panels.origin);
  energy.uniform = 0.5 * epsilon_0 * options.permittivity * in_field;
  return energy;
}

}  // namespace fmbem
