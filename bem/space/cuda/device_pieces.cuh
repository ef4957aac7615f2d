#pragma once

#include <cstdint>
#include <memory>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/space/cut_boxes.hpp"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// What kernels see of pieces.
struct PiecesView {
  const std::int32_t *panel, *first;  ///< [pieces]; [panels + 1]
  const double* place;                ///< [pieces + panels], as PanelPieces has them
  const std::int8_t* edge;            ///< [panels]: the longest, along which the panel is cut

  __device__ bool is_cut(std::int64_t of_panel) const {
    return first[of_panel + 1] - first[of_panel] > 1;
  }
  __device__ Strip strip_of(std::int64_t of_panel, const Triangle& t) const {
    return make_strip(t, edge[of_panel]);
  }
  __device__ double begin_of(std::int64_t piece) const { return place[piece + panel[piece]]; }
  __device__ double end_of(std::int64_t piece) const { return place[piece + panel[piece] + 1]; }
};

/// Of pieces, and of panels that are not cut.
struct PieceExtents {
  /// [pieces]; from the centre of a piece to its end, else 0; smallest and largest coordinates.
  DeviceBuffer<Vec3d> centre, half, low, high;
  DeviceBuffer<double> area;  ///< [pieces]
};

/// Panels as sources where long ones are cut, as PanelPieces has them, in device memory.
struct DevicePieces {
  /// Waits for the stream.
  DevicePieces(const PanelStore& panels, const CutBoxes& boxes, cudaStream_t stream);

  double inflation;  ///< of the root that they are cut for
  DeviceBuffer<std::int32_t> panel, first;
  DeviceBuffer<double> place;
  DeviceBuffer<std::int8_t> edge;

  std::int64_t size() const { return static_cast<std::int64_t>(panel.size()); }
  PiecesView view() const { return {panel.data(), first.data(), place.data(), edge.data()}; }
  /// vertices: [panels][3] in device memory.
  PieceExtents extents(const Vec3d* vertices, cudaStream_t stream) const;
  std::int64_t bytes() const {
    return panel.bytes() + first.bytes() + place.bytes() + edge.bytes();
  }
};

/// Cuts long panels at the planes of those boxes that cost least, as the host's function of that
/// name does. Null where cutting saves too little. Waits for the stream.
std::unique_ptr<DevicePieces> cut_long_panels(const PanelStore& panels, const PieceCosts& costs,
                                              cudaStream_t stream);

}  // namespace fmbem::cuda::bem
