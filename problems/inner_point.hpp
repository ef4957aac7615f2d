#pragma once

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// A point in a body that the closed surface bounds, off its middle, and not close to the surface.
/// Of a thousand points of a grid it takes the first one inside that is, within a fifth, the
/// farthest from the panels' centroids, and goes up to half as far again aside. Throws InputError
/// where none is inside: as between thin sheets.
Vec3d inner_point(const Panels& panels);

}  // namespace fmbem
