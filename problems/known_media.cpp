#include "fmbem/problems/known_media.hpp"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "fmbem/meshes/refine.hpp"
#include "fmbem/problems/known_shapes.hpp"

namespace fmbem {
namespace {

using Kind = GroupCondition::Kind;
using Cube = std::array<int, 3>;

constexpr int slabs = 3, side = 7, bars_in_layer = 3;

std::string bar_name(int bar) { return "bar " + std::to_string(bar + 1); }

/// What fills a unit cube of the memory cell: 0 air, then slabs, then bars.
int filling(const Cube& cube) {
  const auto [x, y, z] = cube;
  if (x < 0 || y < 0 || z < 0 || x >= side || y >= side) return 0;
  const int layer = z / 2;  // bars of the first one lie on the first slab
  const bool has_bars = z % 2 == 0 && layer >= 1 && layer <= slabs;
  const int along = layer % 2 == 1 ? x : y, across = layer % 2 == 1 ? y : x;
  if (has_bars && along >= 1 && along <= side - 2 && across % 2 == 1)
    return 1 + slabs + bars_in_layer * (layer - 1) + across / 2;
  return layer < slabs ? layer + 1 : 0;
}

GroupCondition interface_of(const std::string& group, const std::string& inside,
                            const std::string& outside) {
  GroupCondition condition;
  condition.group = group;
  condition.kind = Kind::interface;
  condition.inside = inside;
  condition.outside = outside;
  return condition;
}

GroupCondition bar_in(const std::string& group, int bar, const std::string& outside) {
  constexpr int middle = 4;
  GroupCondition condition;
  condition.group = group;
  condition.conductor.name = bar_name(bar);
  condition.conductor.value = bar == middle ? 1 : 0;
  condition.outside = outside;
  return condition;
}

/// Outside of layers in a field of 1 along z: −z + p z/r³, of which this is p. In each layer φ is
/// (A r + B/r²) z/r, and φ and ε∂φ/∂r go on where layers meet.
double polarizability(const std::vector<double>& radius, const std::vector<double>& permittivity) {
  double a = 1, b = 0;
  for (std::size_t k = 0; k < radius.size(); ++k) {
    const double r3 = radius[k] * radius[k] * radius[k];
    const double value = a + b / r3;
    const double slope = permittivity[k] / permittivity[k + 1] * (a - 2 * b / r3);
    a = (2 * value + slope) / 3;
    b = r3 * (value - slope) / 3;
  }
  return -b / a;
}

}  // namespace

StudyProblem memory_cell(int refine, double permittivity) {
  // Faces by what is behind them and ahead; of bars and of lower slabs normals point outward.
  std::map<std::pair<int, int>, std::vector<std::tuple<Cube, int, int>>> faces;
  for (int z = 0; z <= 2 * slabs; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        for (int axis = 0; axis < 3; ++axis)
          for (const int step : {-1, 1}) {
            const Cube cube{x, y, z};
            Cube beside = cube;
            beside[axis] += step;
            const int inside = filling(cube), outside = filling(beside);
            if (inside > outside) faces[{inside, outside}].emplace_back(cube, axis, step);
          }
  StudyProblem result;
  BoundaryProblem media;
  media.regions = {{"air", 1}, {"slab 1", permittivity}, {"slab 2", 3.9}, {"slab 3", 100}};
  media.outside = "air";
  for (const auto& [sides, squares] : faces) {
    const auto& [inside, outside] = sides;
    const std::string& ahead = media.regions[outside].name;
    const std::string behind =
        inside > slabs ? bar_name(inside - slabs - 1) : media.regions[inside].name;
    std::string group = behind;
    group.append(" in ").append(ahead);
    add_group(result.mesh, group);
    for (const auto& [cube, axis, step] : squares) add_face(result.mesh, cube, axis, step);
    media.groups.push_back(inside > slabs ? bar_in(group, inside - slabs - 1, ahead)
                                          : interface_of(group, behind, ahead));
  }
  result.mesh = refine_uniformly(result.mesh, refine);
  result.media = std::move(media);
  return result;
}

StudyProblem nested_shells(int refine, double permittivity) {
  const std::vector<double> radius{0.6, 0.8, 1};
  const std::vector<double> media{permittivity, 4, 2, 1};
  StudyProblem result;
  result.media.emplace();
  BoundaryProblem& problem = *result.media;
  problem.regions = {{"core", media[0]}, {"inner shell", media[1]}, {"outer shell", media[2]}};
  problem.regions.push_back({"air", media[3]});
  problem.outside = "air";
  problem.field = along_z;
  // Three of them, to be scaled: what belongs to which follows from the groups.
  result.mesh = unit_spheres({{}, {4, 0, 0}, {8, 0, 0}}, refine + 2);
  std::vector<bool> is_moved(result.mesh.vertices.size(), false);
  for (std::size_t t = 0; t < result.mesh.triangles.size(); ++t)
    for (const int v : result.mesh.triangles[t]) {
      if (is_moved[v]) continue;
      const int shell = result.mesh.group_of[t];
      result.mesh.vertices[v] = radius[shell] * (result.mesh.vertices[v] - 4.0 * shell * along_x);
      is_moved[v] = true;
    }
  for (std::size_t k = 0; k < radius.size(); ++k) {
    const std::string group = result.mesh.groups[k].name;
    problem.groups.push_back(
        interface_of(group, problem.regions[k].name, problem.regions[k + 1].name));
  }
  result.exact_potential = [p = polarizability(radius, media)](Vec3d x) {
    const double r = norm(x);
    return x.z * (p / (r * r * r) - 1);
  };
  return result;
}

}  // namespace fmbem
