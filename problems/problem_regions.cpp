#include "fmbem/problems/problem_regions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/distance.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"
#include "fmbem/meshes/triangle_pair.hpp"

namespace fmbem {
namespace {

using Kind = GroupCondition::Kind;

template <class Named>
std::string names_of(const std::vector<Named>& all) {
  std::string names;
  for (const Named& one : all) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

int region_of(const std::string& name, const BoundaryProblem& problem, const std::string& whose) {
  if (name.empty()) return no_region;
  for (std::size_t r = 0; r < problem.regions.size(); ++r)
    if (problem.regions[r].name == name) return static_cast<int>(r);
  throw InputError(whose + " names the region \"" + name +
                   "\", and there are: " + names_of(problem.regions));
}

void check_regions(const BoundaryProblem& problem) {
  for (std::size_t r = 0; r < problem.regions.size(); ++r) {
    const auto& [name, coefficient, loss] = problem.regions[r];
    FMBEM_REQUIRE(!name.empty(), "a region has an empty name");
    const std::string whose = std::string("the ") +
                              (problem.conducts() ? "conductivity" : "permittivity") +
                              " of the region \"" + name + "\"";
    FMBEM_REQUIRE(loss == 0 || !problem.conducts(), whose << " is complex, and must be real");
    constexpr double least = 1e-100, most = 1e100;  // products and ratios are finite
    FMBEM_REQUIRE(
        loss != 0 || (coefficient >= least && coefficient <= most),
        whose << " must be positive, " << least << " to " << most << ", not " << coefficient);
    FMBEM_REQUIRE(coefficient >= 0 && coefficient <= most && loss >= 0 && loss <= most &&
                      std::max(coefficient, loss) >= least,
                  whose << " must have a real part that is not negative, and an imaginary part "
                           "that is not positive, of "
                        << least << " to " << most << ", not " << coefficient << " and " << -loss);
    for (std::size_t s = 0; s < r; ++s)
      FMBEM_REQUIRE(problem.regions[s].name != name, "there are two regions \"" << name << '"');
  }
}

/// What a group says of its sides, or what it means by saying nothing.
void set_sides(const BoundaryProblem& problem, ResolvedGroup& group) {
  const GroupCondition& condition = *group.condition;
  const std::string whose = "the group \"" + condition.group + "\"";
  const bool is_of_one_side = condition.kind == Kind::neumann || condition.kind == Kind::robin;
  const bool says_nothing = !condition.inside && !condition.outside;
  const auto side = [&](const std::optional<std::string>& name, bool by_default) {
    if (!says_nothing) return region_of(name.value_or(""), problem, whose);
    return by_default ? region_of(problem.outside, problem, "\"outside\"") : no_region;
  };
  group.inside = side(condition.inside, !is_of_one_side);
  group.outside = side(condition.outside, true);
  const bool has_both = group.inside != no_region && group.outside != no_region;
  FMBEM_REQUIRE(group.inside != no_region || group.outside != no_region,
                whose << " has no region on either side: name one as \"inside\" or \"outside\"");
  FMBEM_REQUIRE(!is_of_one_side || !has_both,
                whose << " has a Neumann or Robin condition, which is of one side, and names "
                         "regions on both");
  FMBEM_REQUIRE(condition.kind != Kind::interface || (!says_nothing && has_both),
                whose << " is an interface: name the regions \"inside\" and \"outside\" of it");
  FMBEM_REQUIRE(condition.kind != Kind::interface || group.inside != group.outside,
                whose << " is an interface with the region \"" << problem.regions[group.inside].name
                      << "\" on both sides");
  FMBEM_REQUIRE(!condition.truncated || condition.kind == Kind::interface,
                whose << " is truncated, which is for interfaces alone");
}

/// Regions on both sides of an edge's triangles, each as often as it is left over.
std::map<int, int> left_over(std::span<const EdgeSide> sides, const SurfaceMesh& mesh,
                             std::span<const ResolvedGroup> groups) {
  std::map<int, int> count;
  for (const EdgeSide& side : sides) {
    const ResolvedGroup& group = groups[mesh.group_of[side.triangle]];
    const int sign = side.forward ? 1 : -1;
    count[group.inside] += sign;
    count[group.outside] -= sign;
  }
  std::erase_if(count, [](const auto& entry) { return entry.second == 0; });
  return count;
}

/// A plane that an edge lies in.
const SymmetryPlane* plane_through(const SymmetryPlanes& planes, Vec3d a, Vec3d b, double reach) {
  for (const int axis : planes.axes()) {
    const SymmetryPlane& plane = *planes.at[axis];
    if (std::abs(a[axis] - plane.offset) <= reach && std::abs(b[axis] - plane.offset) <= reach)
      return &plane;
  }
  return nullptr;
}

[[noreturn]] void refuse_open_edge(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                                   const ResolvedGroup& group, int region, Vec3d at) {
  const std::string name = "\"" + group.condition->group + "\"",
                    where = " at " + place(at) + " " + mesh.unit;
  const bool has_one_side = group.inside == no_region || group.outside == no_region;
  const Kind kind = group.condition->kind;
  if (has_one_side && (kind == Kind::neumann || kind == Kind::robin))
    throw InputError("the group " + name + " has a Neumann or Robin condition and an open edge" +
                     where +
                     ": such conditions need a surface that is closed, with other groups or "
                     "alone; for sheets there is no operator yet");
  if (has_one_side)
    throw InputError("the group " + name + " has a region on one side alone and an open edge" +
                     where +
                     ": a sheet needs the regions on both sides, \"inside\" and \"outside\", and "
                     "what bounds a region has to be closed");
  throw InputError("the region \"" + problem.regions[region].name +
                   "\" is not closed: an edge of the group " + name + where +
                   " leaves it open; close the surface, name the right regions on the sides of "
                   "the groups there, or say \"truncated\": true where an interface goes on "
                   "beyond its mesh");
}

const char* name_of(ProblemSource::Kind kind) {
  return kind == ProblemSource::Kind::charge   ? "charge"
         : kind == ProblemSource::Kind::dipole ? "dipole"
                                               : "line";
}

/// From a source to a triangle whose corners are relative to an origin.
double distance_of(const ProblemSource& source, Vec3d origin, const Triangle& t) {
  const Corners corners{t.vertex[0], t.vertex[1], t.vertex[2]};
  const Vec3d from = source.at - origin;
  if (source.kind != ProblemSource::Kind::line) return distance_to_triangle(from, corners);
  return segment_to_triangle(from, source.to - origin, corners);
}

std::vector<Vec3d> ends_of(const ProblemSource& source) {
  if (source.kind != ProblemSource::Kind::line) return {source.at};
  return {source.at, source.to};
}

}  // namespace

SurfaceData constant(double value) {
  return [value](const SurfacePoint&) { return value; };
}

std::vector<ResolvedGroup> resolve_groups(const SurfaceMesh& mesh, const BoundaryProblem& problem) {
  check_regions(problem);
  std::vector<ResolvedGroup> groups(mesh.groups.size());
  for (const GroupCondition& condition : problem.groups) {
    bool found = false;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      if (mesh.groups[g].name != condition.group) continue;
      FMBEM_REQUIRE(!groups[g].condition,
                    "the group \"" << condition.group << "\" has two conditions");
      groups[g].condition = &condition;
      set_sides(problem, groups[g]);
      found = true;
    }
    FMBEM_REQUIRE(found, "the mesh has no group \"" << condition.group
                                                    << "\", it has: " << names_of(mesh.groups));
  }
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    FMBEM_REQUIRE(groups[g].condition,
                  "the group \"" << mesh.groups[g].name << "\" of the mesh has no condition");
  return groups;
}

PanelSides sides_of_panels(const SurfaceMesh& mesh, const Panels& panels,
                           std::span<const ResolvedGroup> groups) {
  PanelSides sides;
  for (const std::int64_t triangle : panels.input_index) {
    const ResolvedGroup& group = groups[mesh.group_of[triangle]];
    sides.inside.push_back(group.inside);
    sides.outside.push_back(group.outside);
  }
  return sides;
}

std::vector<bool> check_regions_closed(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                                       std::span<const ResolvedGroup> groups) {
  std::vector<bool> is_grounded(problem.regions.size(), false);
  const auto set_grounded = [&](int region) {
    if (region != no_region) is_grounded[region] = true;
  };
  for (const auto& plane : problem.planes.at)
    if (plane && plane->kind == PlaneKind::ground) set_grounded(region_outside(problem));
  const Box box = bounding_box(mesh);
  const double reach = contact_gap * norm(box.max - box.min);
  EdgeTable(mesh).for_each_edge([&](int lo, int hi, std::span<const EdgeSide> sides) {
    const std::map<int, int> open = left_over(sides, mesh, groups);
    if (open.empty()) return;
    const auto group_of = [&](const EdgeSide& side) -> const ResolvedGroup& {
      return groups[mesh.group_of[side.triangle]];
    };
    const SymmetryPlane* const plane =
        plane_through(problem.planes, mesh.vertices[lo], mesh.vertices[hi], reach);
    if (plane && plane->kind == PlaneKind::ground)
      for (const auto& [region, count] : open) set_grounded(region);
    if (plane || std::any_of(sides.begin(), sides.end(), [&](const EdgeSide& side) {
          return group_of(side).condition->truncated;
        }))
      return;
    refuse_open_edge(mesh, problem, group_of(sides.front()), open.rbegin()->first,
                     0.5 * (mesh.vertices[lo] + mesh.vertices[hi]));
  });
  return is_grounded;
}

int region_outside(const BoundaryProblem& problem) {
  return region_of(problem.outside, problem, "\"outside\"");
}

Domains find_domains(const BoundaryProblem& problem, std::span<const ResolvedGroup> groups,
                     const std::vector<bool>& is_grounded) {
  const std::size_t n = problem.regions.size();
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int r) {
    while (root[r] != r) r = root[r];
    return r;
  };
  std::vector<bool> is_fixed = is_grounded, has_robin(n, false);
  std::map<std::string, int> at_floating;  // a region
  const auto join = [&](int a, int b) {
    if (a == no_region || b == no_region) return;
    root[find(a)] = find(b);
  };
  for (const ResolvedGroup& group : groups) {
    const GroupCondition& condition = *group.condition;
    join(group.inside, group.outside);
    for (const int region : {group.inside, group.outside}) {
      if (region == no_region) continue;
      if (condition.floats())
        join(at_floating.emplace(condition.conductor_name(), region).first->second, region);
      if (condition.kind == Kind::robin)
        has_robin[region] = true;
      else if (condition.fixes_potential())
        is_fixed[region] = true;
    }
  }
  const int outside = region_outside(problem);
  if (outside != no_region) is_fixed[outside] = true;

  Domains domains;
  domains.of.resize(n);
  std::map<int, int> number;
  for (std::size_t r = 0; r < n; ++r) {
    const auto [entry, is_new] =
        number.emplace(find(static_cast<int>(r)), static_cast<int>(domains.fixes.size()));
    if (is_new) {
      domains.fixes.push_back(false);
      domains.robin_alone.push_back(false);
      domains.first.push_back(r);
    }
    domains.of[r] = entry->second;
    if (is_fixed[r]) domains.fixes[entry->second] = true;
    if (has_robin[r]) domains.robin_alone[entry->second] = true;
  }
  for (std::size_t d = 0; d < domains.fixes.size(); ++d) {
    domains.robin_alone[d] = domains.robin_alone[d] && !domains.fixes[d];
    domains.fixes[d] = domains.fixes[d] || domains.robin_alone[d];
  }
  return domains;
}

RegionFinder::RegionFinder(const BoundaryProblem& problem, const Panels& panels,
                           const PanelSides& sides)
    : panels_(panels),
      origin_(whole_of(panels).origin),
      n_regions_(problem.regions.size()),
      outside_(region_outside(problem)) {
  const Panels& whole = whole_of(panels);
  for (std::size_t w = 0; w < whole.size(); ++w) {
    const std::size_t i = panels.images ? panels.images->source[w] : w;
    if (sides.inside[i] != sides.outside[i])
      borders_.push_back({whole.triangle(w), sides.inside[i], sides.outside[i]});
  }
}

bool RegionFinder::is_beyond_planes(Vec3d x) const {
  if (!panels_.images) return false;
  const SymmetryPlanes& planes = panels_.images->planes;
  for (const int axis : planes.axes()) {
    const double offset = planes.at[axis]->offset;
    if ((x[axis] - offset) * (panels_.origin[axis] - offset) < 0) return true;
  }
  return false;
}

std::vector<double> RegionFinder::windings(Vec3d x) const {
  std::vector<double> result(n_regions_ + 1, 0.0);
  const auto of = [&](int region) -> double& {
    return result[region == no_region ? n_regions_ : region];
  };
  if (is_beyond_planes(x)) {
    of(no_region) = 1;
    return result;
  }
  of(outside_) = 1;
  for (const Border& border : borders_) {
    const double angle = triangle_double_layer(border.panel, x - origin_);
    of(border.inside) -= angle;
    of(border.outside) += angle;
  }
  return result;
}

int RegionFinder::region_off_surfaces(const BodyTree& surface, Vec3d x) const {
  const std::vector<double> winding = windings(x);
  const auto most = std::max_element(winding.begin(), winding.end());
  if (*most > 0.9 || borders_.empty())
    return most + 1 == winding.end() ? no_region : static_cast<int>(most - winding.begin());
  const Vec3d place = x - origin_;
  const Border& nearest =
      borders_[surface.closest(place, 1, std::numeric_limits<double>::infinity()).body];
  const bool is_ahead = dot(place - nearest.panel.vertex[0], nearest.panel.normal) > 0;
  return is_ahead ? nearest.outside : nearest.inside;
}

RegionFinder::Place RegionFinder::place_on_surface(std::span<const int> borders, Side side) const {
  const auto first_region = [&](int Border::*beside) {
    int first = no_region;
    for (const int b : borders) {
      const int region = borders_[b].*beside;
      if (region != no_region && (first == no_region || region < first)) first = region;
    }
    return first;
  };
  const int inside = first_region(&Border::inside), outside = first_region(&Border::outside);
  if (side == Side::mean && outside == no_region) side = Side::negative;
  if (side == Side::mean && inside == no_region) side = Side::positive;
  return {side == Side::positive ? outside : inside, side};
}

std::vector<int> RegionFinder::borders_at(const BodyTree& surface, Vec3d x) const {
  const Vec3d place = x - origin_;
  const double rounding = surface_rounding(whole_of(panels_), place);
  std::vector<int> borders = surface.within(place, 4 * rounding);
  std::erase_if(borders, [&](int b) { return !on_triangle(borders_[b].panel, place, rounding); });
  return borders;
}

std::vector<RegionFinder::Place> RegionFinder::places_of(std::span<const Vec3d> points,
                                                         Side side) const {
  std::vector<Place> result(points.size());
  std::vector<BodyTree::Item> items;
  for (const Border& border : borders_) {
    const auto& vertex = border.panel.vertex;
    items.push_back({{vertex[0], vertex[1], vertex[2]}, static_cast<int>(items.size())});
  }
  const BodyTree surface(std::move(items));
  constexpr std::int64_t block = 256;
  const auto n = static_cast<std::int64_t>(points.size());
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t first = 0; first < n; first += block) {
    Vec3d centre{};
    double clear = 0;  // no surface is so near to the centre
    int region = no_region;
    for (std::int64_t i = first; i < std::min(first + block, n); ++i) {
      const Vec3d x = points[i];
      const bool is_beyond = is_beyond_planes(x);
      if (norm(x - centre) < clear && is_beyond == is_beyond_planes(centre)) {
        result[i] = {region, side};
        continue;
      }
      const std::vector<int> borders = is_beyond ? std::vector<int>{} : borders_at(surface, x);
      if (!borders.empty()) {
        result[i] = place_on_surface(borders, side);
        continue;
      }
      region = region_off_surfaces(surface, x);
      centre = x;
      clear = surface.least(x - origin_, 1, std::numeric_limits<double>::infinity());
      result[i] = {region, side};
    }
  }
  return result;
}

std::vector<int> regions_of_sources(const BoundaryProblem& problem, const Panels& panels,
                                    const RegionFinder& finder, std::vector<std::string>& notices) {
  std::vector<int> regions;
  for (const ProblemSource& source : problem.sources) {
    const std::string whose =
        std::string("the ") + name_of(source.kind) + " at " + place(source.at);
    FMBEM_REQUIRE(std::isfinite(norm2(source.at)) && std::isfinite(norm2(source.to)) &&
                      std::isfinite(norm2(source.moment)) && std::isfinite(source.charge),
                  whose << " has a number that is not finite");
    FMBEM_REQUIRE(source.kind != ProblemSource::Kind::line || norm2(source.to - source.at) > 0,
                  whose << " has no length");
    bool is_close = false;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const Triangle t = panels.triangle(i);
      const double apart = distance_of(source, panels.origin, t);
      FMBEM_REQUIRE(apart > 1e-6 * panels.extent,
                    whose << " lies on a surface or runs through it, near "
                          << place(t.centroid + panels.origin)
                          << ": move it away, or split it there");
      is_close = is_close || apart < t.radius;
    }
    if (is_close)
      notices.push_back(whose +
                        " is nearer to a surface than its panels are large: refine it there");
    int region = no_region;
    if (source.region) {
      region = region_of(*source.region, problem, whose);
      FMBEM_REQUIRE(region != no_region, whose << " has \"\" for its region: name one, or leave "
                                                  "\"region\" out");
    }
    for (const Vec3d& x : ends_of(source)) {
      const std::vector<double> winding = finder.windings(x);
      const auto most = std::max_element(winding.begin(), winding.end());
      const bool is_clear = *most > 0.9;
      FMBEM_REQUIRE(is_clear || source.region, whose << " lies where truncated surfaces leave open "
                                                        "which region it is: say which with "
                                                        "\"region\"");
      if (!is_clear) continue;
      FMBEM_REQUIRE(most + 1 != winding.end(), whose << " lies where there is no region, such as "
                                                        "inside a conductor or beyond a wall: "
                                                        "move it");
      const auto here = static_cast<int>(most - winding.begin());
      FMBEM_REQUIRE(!source.region || region == here,
                    whose << " has \"" << *source.region << "\" for its region, and lies in \""
                          << problem.regions[here].name << "\": name that, or leave it out");
      FMBEM_REQUIRE(region == no_region || region == here,
                    whose << " runs through several regions: split it where it leaves one");
      region = here;
    }
    regions.push_back(region);
  }
  return regions;
}

}  // namespace fmbem
