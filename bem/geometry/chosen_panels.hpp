#pragma once

#include <cstdint>
#include <span>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// The chosen panels alone, ascending, in one leaf; without planes. They share the vertices.
Panels chosen_panels(const Panels& panels, std::span<const std::int32_t> chosen);

}  // namespace fmbem
