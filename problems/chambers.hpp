#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"

namespace fmbem {

/// What surfaces that hang together look like from each space that they bound: closed surfaces made
/// of sides of panels, which turn from panel to panel at edges by the least angle. At an open edge
/// they go on to the panel's other side.
struct Chambers {
  struct Chamber {
    double volume = 0;     ///< inside of the surface; negative where that bounds what is outside
    bool is_clear = true;  ///< false where panels fall together at an edge
  };
  std::vector<std::array<std::int32_t, 2>> of;  ///< [chosen]: chambers behind and ahead
  std::vector<Chamber> all;
};

/// `chosen`: panels, all that touch each other at edges. O(n log n).
Chambers find_chambers(const Panels& panels, std::span<const std::int32_t> chosen);

}  // namespace fmbem
