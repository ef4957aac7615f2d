#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// [points]: whether a closed surface encloses each. `surface`: its panels, whose normals point
/// outward; `points`: finite, less the panels' origin. A ray from each point is counted where it
/// leaves the surface, less where it enters it. Which panels it goes through is told edge by edge,
/// the same for both panels of an edge, so that none is missed and none counted twice.
/// O(panels + points), as long as panels are no needles with many points beside them.
std::vector<char> enclosed_points(const Panels& panels, std::span<const std::int32_t> surface,
                                  std::span<const Vec3d> points);

}  // namespace fmbem
