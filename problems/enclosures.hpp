#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// A set of panels of one class that is connected by shared vertices.
struct Enclosure {
  std::int32_t first = 0;  ///< one of its panels
  Vec3d low, high;         ///< bounds of its vertices
  bool closed = true;      ///< each edge has two of its panels, which run through it in turn
  double volume = 0;       ///< inside, if closed: positive if the normals point outward
};

struct Enclosures {
  std::vector<std::int32_t> of;  ///< [n panels]
  std::vector<Enclosure> parts;
};

/// `class_of`: [n panels], any numbers. O(n).
Enclosures find_enclosures(const Panels& panels, std::span<const int> class_of);

/// How often a closed part, made of these panels, winds round a point, by their solid angles: 1
/// inside, 0 outside, 1/2 on it.
double winding_number(const Panels& panels, std::span<const std::int32_t> part, Vec3d x);

}  // namespace fmbem
