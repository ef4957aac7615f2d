#include "fmbem/fmm/lists/m2l_rows.hpp"

#include <array>
#include <bit>
#include <cstdlib>

#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::fmm {
namespace {

/// Where a child of the colleague at a place is along an axis, among the six boxes around the
/// parent: 0 … 5. The parent's own children are at 2 and 3.
int cell_along(int place, int octant, int axis) {
  const int step = axis == 0 ? place / 9 : axis == 1 ? place / 3 % 3 : place % 3;
  return 2 * step + (octant >> (2 - axis) & 1);
}

int orbit_of(int place, int octant) {
  int orbit = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int cell = cell_along(place, octant, axis);
    orbit = 3 * orbit + (cell < 3 ? 2 - cell : cell - 3);
  }
  return orbit;
}

/// The orbits that the children of each of the 27 colleagues belong to, by the bits of the occupied
/// octants.
std::array<std::array<std::uint32_t, 256>, 27> orbit_table() {
  std::array<std::array<std::uint32_t, 256>, 27> table{};
  for (int place = 0; place < 27; ++place)
    for (int octant = 0; octant < 8; ++octant)
      for (int set = 0; set < 256; ++set)
        if (set >> octant & 1) table[place][set] |= 1u << orbit_of(place, octant);
  return table;
}

/// [place][octant]: the parent's children, as bits, that do not touch that child of a colleague.
std::array<std::array<std::uint8_t, 8>, 27> apart_table() {
  constexpr int own_place = 13;
  std::array<std::array<std::uint8_t, 8>, 27> table{};
  for (int place = 0; place < 27; ++place)
    for (int octant = 0; octant < 8; ++octant)
      for (int own = 0; own < 8; ++own)
        for (int axis = 0; axis < 3; ++axis)
          if (std::abs(cell_along(place, octant, axis) - cell_along(own_place, own, axis)) > 1)
            table[place][octant] |= static_cast<std::uint8_t>(1u << own);
  return table;
}

/// The octants of a box whose children have such points.
std::uint8_t octants_with(const Octree& tree, const Box& box, Range Box::*points) {
  std::uint8_t octants = 0;
  for (int octant = 0; octant < 8; ++octant) {
    const std::int32_t child = box.child[octant];
    if (child >= 0 && (tree.boxes[child].*points).size() > 0)
      octants |= static_cast<std::uint8_t>(1u << octant);
  }
  return octants;
}

}  // namespace

std::uint32_t orbits_within(double gap) {
  std::uint32_t some = 0;
  for (int orbit = 1; orbit < orbits; ++orbit)
    if (m2l_gap(orbit) <= gap) some |= 1u << orbit;
  return some;
}

std::vector<std::uint8_t> occupied_octants(const Octree& tree) {
  std::vector<std::uint8_t> occupied(tree.boxes.size());
#pragma omp parallel for schedule(static) if (tree.boxes.size() > 10'000)
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    occupied[b] = octants_with(tree, tree.boxes[b], &Box::sources);
  return occupied;
}

std::uint32_t orbits_at(int place, std::uint8_t occupied) {
  static const auto table = orbit_table();
  return table[place][occupied] & all_but_siblings;
}

std::uint32_t occupied_orbits(const Octree& tree, std::int32_t parent,
                              std::span<const std::uint8_t> occupied) {
  std::uint32_t orbits_with_sources = 0;
  for (int place = 0; place < 27; ++place) {
    const std::int32_t uncle = tree.colleagues[parent][place];
    if (uncle >= 0) orbits_with_sources |= orbits_at(place, occupied[uncle]);
  }
  return orbits_with_sources;
}

std::uint32_t acting_orbits(const PointTree& points, Method method, int level, double reach) {
  static const auto apart = apart_table();
  const std::vector<std::uint32_t>& places = points.lists.hybrid.m2l_places;
  if (method == Method::treecode || (method == Method::hybrid && places.empty())) return 0;
  const Octree& tree = points.octree;
  const std::uint32_t possible = orbits_within(reach / tree.side(level));
  std::uint32_t result = 0;
  for (std::int32_t b = tree.level_begin[level - 1]; b < tree.level_begin[level]; ++b) {
    const Box& parent = tree.boxes[b];
    if (parent.is_leaf) continue;
    const std::uint8_t sources = octants_with(tree, parent, &Box::sources),
                       targets = octants_with(tree, parent, &Box::targets);
    for (int place = 0; place < 27; ++place) {
      const std::int32_t uncle = tree.colleagues[b][place];
      if (uncle < 0 || (!places.empty() && (places[b] >> place & 1) == 0)) continue;
      for (int octant = 0; octant < 8; ++octant) {
        const std::int32_t child = tree.boxes[uncle].child[octant];
        if (child < 0) continue;
        const std::uint8_t far = apart[place][octant];
        if ((tree.boxes[child].sources.size() > 0 && (targets & far) != 0) ||
            (tree.boxes[child].targets.size() > 0 && (sources & far) != 0))
          result |= possible & 1u << orbit_of(place, octant);
      }
    }
    if (2 * std::popcount(result) > std::popcount(possible)) return possible;
  }
  return result;
}

std::int64_t m2l_rows(const Octree& tree) {
  const std::vector<std::uint8_t> occupied = occupied_octants(tree);
  std::int64_t rows = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    if (!tree.boxes[b].is_leaf && tree.boxes[b].level > 0 && tree.boxes[b].targets.size() > 0)
      rows += std::popcount(occupied_orbits(tree, static_cast<std::int32_t>(b), occupied));
  return rows;
}

}  // namespace fmbem::fmm
