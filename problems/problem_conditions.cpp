#include "fmbem/problems/problem_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/media_system.hpp"

namespace fmbem {
namespace {

using Kind = GroupCondition::Kind;

double checked(double value, const char* what, const GroupCondition& condition,
               const SurfacePoint& at) {
  FMBEM_REQUIRE(std::isfinite(value), what << " of the group \"" << condition.group << "\" is "
                                           << value << " at " << place(at.x)
                                           << ": it must be a finite number");
  return value;
}

bool says_the_same(const GroupCondition::OfConductor& a, const GroupCondition::OfConductor& b) {
  return a.has_charge == b.has_charge && a.value == b.value;
}

/// Sets what lies behind the panels of solid conductors.
template <class T>
void fill_solid_conductors(const Panels& panels, const PanelSides& sides,
                           BasicPanelConditions<T>& conditions) {
  const Enclosures enclosures = find_enclosures(panels, conditions.conductor);
  std::vector<bool> is_solid(enclosures.parts.size());
  for (std::size_t p = 0; p < is_solid.size(); ++p)
    is_solid[p] =
        enclosures.parts[p].closed && conditions.conductor[enclosures.parts[p].first] >= 0;
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (sides.inside[i] != no_region) is_solid[enclosures.of[i]] = false;
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (is_solid[enclosures.of[i]]) conditions.behind[i] = conditions.ahead[i];
}

/// Numbers the domains where nothing says what φ is, and no driven conductor is at a potential.
template <class T>
void set_unfixed(const ProblemParts& parts, std::span<const int> region_of_neumann,
                 ProblemConditions<T>& conditions) {
  const Domains& domains = parts.domains;
  // Domains that no panel bounds do not matter.
  std::vector<bool> is_used(domains.fixes.size(), false), is_fixed = domains.fixes;
  for (std::size_t i = 0; i < parts.panels.size(); ++i)
    for (const int region : {parts.sides.inside[i], parts.sides.outside[i]}) {
      if (region == no_region) continue;
      is_used[domains.of[region]] = true;
      const int conductor = parts.conductors.of_panel[i];
      if (conductor >= 0 && conditions.driven[conductor]) is_fixed[domains.of[region]] = true;
    }
  std::vector<std::int32_t> number(domains.fixes.size(), -1);
  std::int32_t count = 0;
  for (std::size_t d = 0; d < number.size(); ++d)
    if (is_used[d] && !is_fixed[d]) number[d] = count++;
  if (count == 0) return;
  std::vector<bool> has_neumann(domains.fixes.size(), false);
  conditions.panels.unfixed.assign(region_of_neumann.size(), -1);
  for (std::size_t i = 0; i < region_of_neumann.size(); ++i) {
    if (region_of_neumann[i] == no_region) continue;
    const int domain = domains.of[region_of_neumann[i]];
    conditions.panels.unfixed[i] = number[domain];
    has_neumann[domain] = true;
  }
  for (std::size_t d = 0; d < number.size(); ++d)
    FMBEM_REQUIRE(number[d] < 0 || has_neumann[d],
                  "nothing says what the potential is in the region \""
                      << parts.problem.regions[domains.first[d]].name
                      << "\", where all conductors float: give one of them a potential");
}

}  // namespace

SurfacePoint surface_point(const Panels& panels, std::size_t i) {
  const Triangle t = panels.triangle(i);
  return {static_cast<std::size_t>(panels.input_index[i]), panels.size(),
          t.centroid + panels.origin, t.normal};
}

ProblemConductors conductors_of(const SurfaceMesh& mesh, const Panels& panels,
                                std::span<const ResolvedGroup> groups) {
  ProblemConductors result;
  std::vector<std::string> others;
  for (const ResolvedGroup& group : groups) {
    const GroupCondition& condition = *group.condition;
    if (condition.kind != Kind::conductor) {
      others.push_back(condition.group);
      continue;
    }
    const GroupCondition::OfConductor& given = condition.conductor;
    const std::string& name = condition.conductor_name();
    FMBEM_REQUIRE(std::isfinite(given.value),
                  "the conductor \"" << name << "\" has a value that is not finite");
    const auto found = std::find_if(result.all.begin(), result.all.end(),
                                    [&](const Conductor& c) { return c.name == name; });
    if (found == result.all.end()) {
      result.all.push_back({name, {condition.group}});
      result.given.push_back(given);
      continue;
    }
    FMBEM_REQUIRE(says_the_same(result.given[found - result.all.begin()], given),
                  "groups of the conductor \"" << name << "\" say different things of it");
    found->groups.push_back(condition.group);
  }
  // Which finds conductors that touch.
  result.all = make_conductors(mesh, result.all, others);
  result.of_panel = conductor_of_panels(mesh, panels, result.all);
  return result;
}

template <class T>
ProblemConditions<T> conditions_of(const ProblemParts& parts) {
  const SurfaceMesh& mesh = parts.mesh;
  const BoundaryProblem& problem = parts.problem;
  const Panels& panels = parts.panels;
  const PanelSides& sides = parts.sides;
  const ProblemConductors& conductors = parts.conductors;
  ProblemConditions<T> both;
  BasicPanelConditions<T>& result = both.panels;
  result.conductor = conductors.of_panel;
  for (const GroupCondition::OfConductor& given : conductors.given)
    result.floats.push_back(given.has_charge);
  for (const Conductor& conductor : conductors.all) result.names.push_back(conductor.name);
  std::vector<int> region_of_neumann(panels.size(), no_region);
  std::vector<std::optional<double>> largest_coefficient(mesh.groups.size());  // of Robin's
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int group = mesh.group_of[panels.input_index[i]];
    const GroupCondition& condition = *parts.groups[group].condition;
    const bool has_potential =
        condition.kind == Kind::conductor || condition.kind == Kind::dirichlet;
    result.kind.push_back(has_potential ? PanelConditionKind::potential : PanelConditionKind::flux);
    result.behind.push_back(coefficient_in<T>(problem, sides.inside[i]));
    result.ahead.push_back(coefficient_in<T>(problem, sides.outside[i]));
    if (condition.kind == Kind::neumann)
      region_of_neumann[i] = std::max(sides.inside[i], sides.outside[i]);
    if (condition.kind != Kind::robin) continue;
    const SurfacePoint at = surface_point(panels, i);
    const double value = checked(condition.coefficient(at), "the Robin coefficient", condition, at);
    FMBEM_REQUIRE(value >= 0, "the Robin coefficient of the group \""
                                  << condition.group << "\" is " << value << " at " << place(at.x)
                                  << ": it must not be negative");
    result.admittance.resize(panels.size(), 0.0);
    result.admittance[i] = value * mesh.scale_to_m / problem.unit();
    largest_coefficient[group] = std::max(largest_coefficient[group].value_or(0), value);
  }
  // Its region's potential would be taken for fixed by it.
  for (std::size_t g = 0; g < largest_coefficient.size(); ++g)
    FMBEM_REQUIRE(largest_coefficient[g] != 0.0, "the Robin coefficient of the group \""
                                                     << mesh.groups[g].name
                                                     << "\" is 0 everywhere: give its values as "
                                                        "\"neumann\"");
  fill_solid_conductors(panels, sides, result);
  both.driven = float_between_media(panels, both.panels);
  for (std::size_t c = 0; c < both.driven.size(); ++c)
    if (both.driven[c]) both.panels.floats[c] = false;
  set_unfixed(parts, region_of_neumann, both);
  return both;
}

template ProblemConditions<double> conditions_of(const ProblemParts&);
template ProblemConditions<Complex> conditions_of(const ProblemParts&);

std::vector<double> given_values(const SurfaceMesh& mesh, const Panels& panels,
                                 const BoundaryProblem& problem,
                                 std::span<const ResolvedGroup> groups) {
  std::vector<double> result;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const GroupCondition& condition = *groups[mesh.group_of[panels.input_index[i]]].condition;
    if (condition.kind == Kind::interface || condition.kind == Kind::conductor) {
      result.push_back(condition.fixes_potential() ? condition.conductor.value : 0);
      continue;
    }
    const SurfacePoint at = surface_point(panels, i);
    const double value = checked(condition.value(at), "the value", condition, at),
                 factor = condition.kind == Kind::dirichlet ? 1 : mesh.scale_to_m / problem.unit();
    result.push_back(factor * value);
  }
  return result;
}

AppliedField applied_field(const BoundaryProblem& problem, std::span<const int> region_of_source) {
  FMBEM_REQUIRE(std::isfinite(norm2(problem.field)), "the uniform field is not finite");
  FMBEM_REQUIRE(norm2(problem.field) == 0 || !problem.outside.empty(),
                "there is a uniform field, but nothing is solved for outside");
  AppliedField result{.uniform = problem.field, .unit = problem.unit()};
  for (std::size_t s = 0; s < problem.sources.size(); ++s) {
    const ProblemSource& source = problem.sources[s];
    const double coefficient = problem.regions[region_of_source[s]].coefficient;
    switch (source.kind) {
      case ProblemSource::Kind::charge:
        result.charges.push_back({source.at, source.charge, coefficient});
        break;
      case ProblemSource::Kind::dipole:
        result.dipoles.push_back({source.at, source.moment, coefficient});
        break;
      case ProblemSource::Kind::line:
        result.lines.push_back({source.at, source.to, source.charge, coefficient});
    }
  }
  return result;
}

LossyField lossy_field(const BoundaryProblem& problem, std::span<const int> region_of_source,
                       const AppliedField& applied) {
  SourceMedia own;
  for (std::size_t s = 0; s < problem.sources.size(); ++s) {
    const ProblemSource::Kind kind = problem.sources[s].kind;
    (kind == ProblemSource::Kind::charge   ? own.charges
     : kind == ProblemSource::Kind::dipole ? own.dipoles
                                           : own.lines)
        .push_back(coefficient_in<Complex>(problem, region_of_source[s]));
  }
  // Behind the sources there are their images, all of the first plane, then of the next one.
  const auto with_images = [](std::vector<Complex> media, std::size_t all) {
    const std::size_t n = media.size();
    for (std::size_t k = n; k < all; ++k) media.push_back(media[k - n]);
    return media;
  };
  return in_lossy_media(applied, {with_images(own.charges, applied.charges.size()),
                                  with_images(own.dipoles, applied.dipoles.size()),
                                  with_images(own.lines, applied.lines.size())});
}

}  // namespace fmbem
