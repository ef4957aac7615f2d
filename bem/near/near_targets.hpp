#pragma once

#include <cstdint>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// The rows of a block as a near field sees them.
struct NearTargets {
  NearTargets(const Panels& panels, const PanelBlock& block);

  LargeVector<Vec3d> centroid;    ///< [rows]
  LargeVector<std::int32_t> own;  ///< [rows]: the panel's column, −1 where it has none
};

}  // namespace fmbem
