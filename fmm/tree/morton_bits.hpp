#pragma once

#include <cstdint>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Deepest level that keys of 64 bits can tell: 21 bits an axis. Trees of points go to
/// deepest_tree_level (fmm/tree/tree_key.hpp); on the GPU with such keys only where they must.
inline constexpr int deepest_level = 21;

/// A cube: the root of an octree.
struct Cube {
  Vec3d corner;     ///< smallest coordinates
  double side = 1;  ///< > 0
};

/// Moves bit k of a 21-bit number to bit 3k.
FMBEM_HD constexpr std::uint64_t spread_bits(std::uint64_t v) {
  v = (v | v << 32) & 0x1f00000000ffffULL;
  v = (v | v << 16) & 0x1f0000ff0000ffULL;
  v = (v | v << 8) & 0x100f00f00f00f00fULL;
  v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
  return (v | v << 2) & 0x1249249249249249ULL;
}

/// Moves bit 3k of a key to bit k.
FMBEM_HD constexpr std::int32_t compact_bits(std::uint64_t v) {
  v &= 0x1249249249249249ULL;
  v = (v | v >> 2) & 0x10c30c30c30c30c3ULL;
  v = (v | v >> 4) & 0x100f00f00f00f00fULL;
  v = (v | v >> 8) & 0x1f0000ff0000ffULL;
  v = (v | v >> 16) & 0x1f00000000ffffULL;
  return static_cast<std::int32_t>((v | v >> 32) & 0x1fffff);
}

/// A cell of a grid of 2^level boxes an axis.
struct Cell {
  std::int32_t x, y, z;
};

/// The cell of a box from its key, the leading 3·level bits of a point's; and back.
FMBEM_HD constexpr Cell grid_cell(std::uint64_t key) {
  return {compact_bits(key >> 2), compact_bits(key >> 1), compact_bits(key)};
}
FMBEM_HD constexpr std::uint64_t grid_key(Cell cell) {
  return spread_bits(cell.x) << 2 | spread_bits(cell.y) << 1 | spread_bits(cell.z);
}

/// Morton key of a point of the cube at the deepest level: bit 3l+2, 3l+1, 3l of level l are those
/// of x, y and z. Points outside are moved to the boundary.
FMBEM_HD inline std::uint64_t morton_key(Vec3d point, const Cube& cube) {
  constexpr double cells = 1 << deepest_level;
  Cell cell{};
  std::int32_t* const index[3] = {&cell.x, &cell.y, &cell.z};
  for (int axis = 0; axis < 3; ++axis) {
    const double place = (point[axis] - cube.corner[axis]) / cube.side * cells;
    *index[axis] = static_cast<std::int32_t>(place < 0 ? 0 : place > cells - 1 ? cells - 1 : place);
  }
  return grid_key(cell);
}

}  // namespace fmbem
