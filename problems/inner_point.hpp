#pragma once

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// A point in a body that the closed surface bounds, off its middle, and not close to the surface.
/// Of a thousand points of a grid it takes the one inside that is farthest from the panels'
/// centroids, and goes half as far again aside. Throws InputError where none is inside: as between
/// thin sheets.
Vec3d inner_point(const Panels& panels);

}  // namespace fmbem
