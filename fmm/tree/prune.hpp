#pragma once

#include <cstdint>
#include <span>

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// Takes away the children of boxes that do not stay split, and what is below them; `stays_split`
/// has a flag for each box. Returns where each box is now, −1 of those that are gone.
LargeVector<std::int32_t> prune_octree(Octree& tree, std::span<const std::uint8_t> stays_split);

}  // namespace fmbem::fmm
