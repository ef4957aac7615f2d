#pragma once

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/problems/media.hpp"

namespace fmbem {

/// What is applied to panels before symmetry planes, with the images of its sources; a uniform
/// field is 0 V in a ground plane. Throws InputError for sources in a plane or behind it and for
/// uniform fields along a ground plane or across a mirror.
AppliedField with_images(const AppliedField& applied, const Panels& panels);

}  // namespace fmbem
