#pragma once

#include <memory>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/geometry/panel_block.hpp"

namespace fmbem::cuda::bem {

/// The panels of an operator's block in device memory: those of its columns are the sources, and
/// the centroids of those of its rows the targets.
struct BlockPanels {
  /// Waits for the stream.
  BlockPanels(const Panels& panels, const PanelBlock& block, cudaStream_t stream);

  std::shared_ptr<const PanelStore> all, sources;
  DeviceBuffer<std::int32_t> own_source;  ///< as SpreadTree::own_source

  const DeviceBuffer<Vec3d>& targets() const {
    return chosen_centroid_.size() > 0 ? chosen_centroid_ : all->centroid;
  }
  bool is_all() const { return sources == all && chosen_centroid_.size() == 0; }
  std::size_t rows() const { return targets().size(); }
  std::size_t columns() const { return sources->centroid.size(); }

 private:
  DeviceBuffer<Vec3d> chosen_centroid_;  ///< empty if all are targets
};

}  // namespace fmbem::cuda::bem
