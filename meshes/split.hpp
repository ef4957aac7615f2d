#pragma once

#include <array>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

using CornerNumbers = std::array<int, 3>;

/// The two triangles of a quadrangle: along its shorter diagonal or, if a reentrant corner puts
/// that one outside, along the other. Both keep the quadrangle's orientation.
std::pair<CornerNumbers, CornerNumbers> split_quadrangle(const std::vector<Vec3d>& vertices,
                                                         const std::array<int, 4>& quadrangle);

}  // namespace fmbem
