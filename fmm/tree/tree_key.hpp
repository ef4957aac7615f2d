#pragma once

#include <array>
#include <cstdint>

#include "fmbem/fmm/tree/morton_bits.hpp"

namespace fmbem::fmm {

/// Deepest level of trees, on the GPU of those that need more than keys of 64 bits: 42 bits an
/// axis. A box of it has 2.3e-13 of the root's side, some thousand times the rounding of
/// coordinates of the root's size.
inline constexpr int deepest_tree_level = 2 * deepest_level;

/// Morton key of a box: 3 bits a level, the root's children first. A box of level l has
/// the leading 3l bits of its points' keys, 126 bits.
__extension__ typedef unsigned __int128 TreeKey;  // NOLINT(modernize-use-using)

/// Place of a box in the grid of its level, from 0 to 2^level − 1.
using TreeCell = std::array<std::int64_t, 3>;

/// The key of a cell; and back. Each half of the bits is a key of 64 bits.
FMBEM_HD inline TreeKey key_of(const TreeCell& cell) {
  const auto half = [&](int shift) {
    const auto bits = [&](int axis) {
      return static_cast<std::int32_t>(cell[axis] >> shift & ((1 << deepest_level) - 1));
    };
    return grid_key({bits(0), bits(1), bits(2)});
  };
  return static_cast<TreeKey>(half(deepest_level)) << 3 * deepest_level | half(0);
}
FMBEM_HD inline TreeCell cell_of(TreeKey key) {
  constexpr std::uint64_t lower_half = (std::uint64_t{1} << 3 * deepest_level) - 1;
  const Cell high = grid_cell(static_cast<std::uint64_t>(key >> 3 * deepest_level)),
             low = grid_cell(static_cast<std::uint64_t>(key) & lower_half);
  const auto joined = [](std::int64_t upper, std::int64_t lower) {
    return upper << deepest_level | lower;
  };
  return {joined(high.x, low.x), joined(high.y, low.y), joined(high.z, low.z)};
}

/// Key of a point of the cube at the deepest level. Points outside are moved to the boundary.
FMBEM_HD inline TreeKey tree_key(Vec3d point, const Cube& cube) {
  constexpr double cells = static_cast<double>(std::int64_t{1} << deepest_tree_level);
  TreeCell cell{};
  for (int axis = 0; axis < 3; ++axis) {
    const double place = (point[axis] - cube.corner[axis]) / cube.side * cells;
    cell[axis] = static_cast<std::int64_t>(place < 0 ? 0 : place > cells - 1 ? cells - 1 : place);
  }
  return key_of(cell);
}

}  // namespace fmbem::fmm
