#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// The gradient along the surface of a function that is known at centroids, [n panels], per unit of
/// length. Around each panel a polynomial of degree 2 in the plane of the panel goes through its
/// own value and fits those of the panels that share a vertex with it, by least squares; where
/// these are too few or lie too unevenly, one of degree 1. In a plane that is exact for polynomials
/// of degree 2. Of a smooth surface centroids lie off it by unequal parts of the square of the
/// panels' size, and the error falls with that size. A panel that has not two neighbours gets 0.
/// O(n).
std::vector<Vec3d> surface_gradient(const Panels& panels, std::span<const double> value);

}  // namespace fmbem
