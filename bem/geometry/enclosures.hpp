#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem {

/// A set of panels of one class that is connected by shared vertices; through symmetry planes with
/// its images.
struct Enclosure {
  std::int32_t first = 0;   ///< one of its panels
  CoordinateBounds bounds;  ///< of its vertices
  bool closed = true;       ///< each edge has two of its panels, which run through it in turn
  double volume = 0;        ///< inside, if closed: positive if the normals point outward
  Vec3d area{};             ///< ∫ n dS, which is 0 if closed
  bool grounded = false;    ///< it touches a ground plane, beyond which all charges are opposite
};

struct Enclosures {
  LargeVector<std::int32_t> of;  ///< [n panels]
  std::vector<Enclosure> parts;
  /// [whole_of(panels)]: the same of panels and images, −1 of those that are parts of their own.
  LargeVector<std::int32_t> of_whole;
};

/// `class_of`: [n panels], any numbers. O(n).
Enclosures find_enclosures(const Panels& panels, std::span<const int> class_of);

/// The same where each class is known to be one such set, and not to be open but by mistake: closed
/// are those whose area adds up to 0. O(n), without looking at vertices or edges.
Enclosures enclosures_of_classes(const Panels& panels, std::span<const int> class_of);

/// The panels and images of each part: numbers in whole_of(panels).
GroupOrder panels_of_parts(const Enclosures& enclosures);

/// [parts]: whether each lies inside of a closed one of them, by a point of it; nothing where that
/// is on the closed one. `of_body`: panels of that, as panels_of_parts() has them.
std::vector<std::optional<bool>> parts_inside(const Panels& panels, const Enclosures& enclosures,
                                              std::int32_t body,
                                              std::span<const std::int32_t> of_body);

/// How often a closed part, made of these panels, winds round a point, by their solid angles: 1
/// inside, 0 outside, 1/2 on it.
double winding_number(const Panels& panels, std::span<const std::int32_t> part, Vec3d x);

}  // namespace fmbem
