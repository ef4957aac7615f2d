#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Points origin + spacing (i, j, k), the last index being the fastest.
struct RegularGrid {
  Vec3d origin;
  double spacing = 1;
  std::array<std::size_t, 3> counts{};
  std::size_t size() const { return counts[0] * counts[1] * counts[2]; }
  Vec3d point(std::size_t i, std::size_t j, std::size_t k) const {
    return origin +
           spacing * Vec3d{static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
  }
};

/// The grid over a box and a margin around it, its middle in the box's. Throws InputError for a
/// spacing that is not positive, a negative margin and more than 1e9 points.
RegularGrid grid_over(Vec3d low, Vec3d high, double margin, double spacing);

/// Writes a scalar at the points of a grid, in their order, in the part of OpenDX's format that
/// APBS writes and PyMOL, VMD and ChimeraX read: lengths in Å, three numbers a line. `comment` is
/// one line. The file appears whole or not at all. Throws InputError for an unwritable path and
/// ResourceError when the disk is full.
void write_dx(const std::string& path, const RegularGrid& grid, std::span<const double> values,
              const std::string& comment);

}  // namespace fmbem
