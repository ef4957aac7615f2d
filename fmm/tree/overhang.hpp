#pragma once

#include <cmath>

#include "fmbem/fmm/tree/morton_bits.hpp"

namespace fmbem::fmm {

/// The deepest level, `deepest` at most, in whose box a spread source sticks out by at most
/// `overhang` sides. The source's centre, and its smallest and largest coordinates, are given less
/// the root's corner.
FMBEM_HD inline int deepest_level_of(Vec3d centre, Vec3d low, Vec3d high, double root_side,
                                     double overhang, int deepest) {
  int level = deepest;
  for (double side = ldexp(root_side, -level); level > 0; --level, side *= 2) {
    double out = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double corner = floor(centre[axis] / side) * side;
      out = fmax(out, fmax(corner - low[axis], high[axis] - corner - side));
    }
    if (out <= overhang * side) break;
  }
  return level;
}

}  // namespace fmbem::fmm
