#pragma once

#include <span>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/near/cuda/near_tiles.cuh"

namespace fmbem::cuda::bem {

/// Points as the caller has them, of which `before` were done before.
struct PlacesOfPoints {
  std::span<const Vec3d> points;
  Vec3d origin;  ///< of the panels
  std::size_t before;
};

/// The tree of panels and of such points, with items for warps. Throws InputError for points that
/// are not finite.
SpreadTree grow_tree_at_points(const PanelStore& panels, const PlacesOfPoints& places,
                               SpreadOptions options, cudaStream_t stream);

/// The near lists of such a tree; `reach` is in the panels' unit.
inline NearTilesAtPoints near_tiles_of(const PanelStore& panels, const SpreadTree& tree,
                                       double reach) {
  return {panels.vertices.data(),
          tree.source_order.data(),
          tree.targets(),
          tree.near.view(),
          tree.near.items.data(),
          static_cast<std::int64_t>(tree.near.items.size()),
          tree.scale,
          tree.scale * reach};
}

}  // namespace fmbem::cuda::bem
