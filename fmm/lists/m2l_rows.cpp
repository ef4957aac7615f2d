#include "fmbem/fmm/lists/m2l_rows.hpp"

#include <array>
#include <bit>

#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::fmm {
namespace {

/// The orbits that the children of each of the 27 colleagues belong to, by the bits of the occupied
/// octants.
std::array<std::array<std::uint32_t, 256>, 27> orbit_table() {
  std::array<std::array<std::uint32_t, 256>, 27> table{};
  for (int place = 0; place < 27; ++place) {
    const int steps[3] = {place / 9, place / 3 % 3, place % 3};
    for (int octant = 0; octant < 8; ++octant) {
      int orbit = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const int cell = 2 * steps[axis] + (octant >> (2 - axis) & 1);  // 0 … 5
        orbit = 3 * orbit + (cell < 3 ? 2 - cell : cell - 3);
      }
      for (int set = 0; set < 256; ++set)
        if (set >> octant & 1) table[place][set] |= 1u << orbit;
    }
  }
  return table;
}

constexpr std::uint32_t all_but_siblings = ((1u << orbits) - 1) & ~1u;

}  // namespace

std::vector<std::uint8_t> occupied_octants(const Octree& tree) {
  std::vector<std::uint8_t> occupied(tree.boxes.size());
#pragma omp parallel for schedule(static) if (tree.boxes.size() > 10'000)
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    for (int octant = 0; octant < 8; ++octant) {
      const std::int32_t child = tree.boxes[b].child[octant];
      if (child >= 0 && tree.boxes[child].sources.size() > 0)
        occupied[b] |= static_cast<std::uint8_t>(1u << octant);
    }
  }
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

std::int64_t m2l_rows(const Octree& tree) {
  const std::vector<std::uint8_t> occupied = occupied_octants(tree);
  std::int64_t rows = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    if (!tree.boxes[b].is_leaf && tree.boxes[b].level > 0 && tree.boxes[b].targets.size() > 0)
      rows += std::popcount(occupied_orbits(tree, static_cast<std::int32_t>(b), occupied));
  return rows;
}

}  // namespace fmbem::fmm
