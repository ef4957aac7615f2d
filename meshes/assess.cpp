#include "fmbem/meshes/assess.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fmbem/meshes/distance.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"

namespace fmbem {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Vec3d normal(const SurfaceMesh& mesh, int i) {
  const auto& [a, b, c] = mesh.triangles[i];
  const Vec3d n = cross(mesh.vertices[b] - mesh.vertices[a], mesh.vertices[c] - mesh.vertices[a]);
  return n * (1 / norm(n));
}

/// The angles between panels at the mesh's edges.
struct Turns {
  std::size_t coarse = 0;  // of a curved surface with too few panels a turn
  std::size_t sharp = 0;
};

Turns turns_of(const SurfaceMesh& mesh) {
  // Of n panels along a turn, neighbours in step turn by 2π/n, staggered ones by about π/n.
  const double pi = std::acos(-1.);
  const double few_per_turn = pi / 6, edge_of_a_body = 2 * pi / 7;
  Turns turns;
  EdgeTable(mesh).for_each_edge([&](int, int, std::span<const EdgeSide> sides) {
    if (sides.size() != 2) return;
    const double cosine = dot(normal(mesh, sides[0].triangle), normal(mesh, sides[1].triangle));
    const double same_side = sides[0].forward != sides[1].forward ? 1 : -1;
    const double turn = std::acos(std::clamp(same_side * cosine, -1., 1.));
    turns.sharp += turn > edge_of_a_body;
    turns.coarse += turn > few_per_turn && turn <= edge_of_a_body;
  });
  return turns;
}

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

}  // namespace

std::vector<Gap> find_gaps(const SurfaceMesh& mesh) {
  if (mesh.groups.size() < 2) return {};
  std::vector<BodyTree::Item> items;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    items.push_back({{mesh.vertices[a], mesh.vertices[b], mesh.vertices[c]}, mesh.group_of[i]});
  }
  const BodyTree tree(items);
  std::vector<double> least(mesh.groups.size(), infinite);
  std::map<std::pair<int, int>, Gap> of_pair;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [a, b, c] = items[i].corners;
    const int mine = mesh.group_of[i];
    for (const Vec3d x : {a, b, c, (1. / 3) * (a + b + c)}) {
      const BodyTree::Closest other = tree.closest(x, 1, least[mine], mine);
      if (other.body == BodyTree::no_body) continue;
      least[mine] = other.value;
      const Gap gap{std::min(mine, other.body), std::max(mine, other.body), other.value,
                    triangle_shape(mesh, i).longest_edge, x};
      Gap& known = of_pair.try_emplace({gap.a, gap.b}, gap).first->second;
      if (gap.distance < known.distance) known = gap;
    }
  }
  // A group that was the nearest only until a nearer one came makes no pair.
  std::vector<Gap> gaps;
  for (const auto& [pair, gap] : of_pair)
    if (gap.distance <= std::max(least[gap.a], least[gap.b])) gaps.push_back(gap);
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const Gap& a, const Gap& b) { return a.distance < b.distance; });
  return gaps;
}

std::vector<std::string> accuracy_limits(const SurfaceMesh& mesh, const MeshReport& check,
                                         const std::vector<Gap>& gaps) {
  constexpr double wide = 2;        // panels over a gap
  constexpr double thin_angle = 5;  // degrees
  constexpr std::size_t few_panels = 200;
  std::vector<std::string> limits;
  for (const Gap& gap : gaps)
    if (gap.distance > 0 && gap.edge > wide * gap.distance)
      limits.push_back("the gap of " + decimal(gap.distance) + " between " +
                       quoted(mesh.groups[gap.a].name) + " and " + quoted(mesh.groups[gap.b].name) +
                       " at " + place(gap.place) + " is narrower than its panels, of edges up to " +
                       decimal(gap.edge));
  for (const GroupReport& group : check.groups)
    if (group.panels < few_panels)
      limits.push_back(quoted(group.name) + " has " + counted(group.panels, "panel") + " only");
  const Turns turns = turns_of(mesh);
  if (turns.coarse > 0)
    limits.push_back(counted(turns.coarse, "edge turns", "edges turn") +
                     " a curved surface by more than 30 degrees");
  if (check.smallest_angle < thin_angle)
    limits.push_back("the smallest angle is " + decimal(check.smallest_angle) + " degrees");
  if (check.open_edges > 0)
    limits.push_back(
        "the surface is open: errors halve with the size of its panels, those of a "
        "closed smooth one are quartered");
  else if (turns.sharp > 0)
    limits.push_back(
        "the charge density is singular on sharp edges, where panels should be "
        "smaller (--grade)");
  return limits;
}

}  // namespace fmbem
