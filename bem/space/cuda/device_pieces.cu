#include <vector>

#include "fmbem/bem/space/cuda/device_pieces.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void measure(PiecesView pieces, std::int64_t n, const Vec3d* vertices, Vec3d* centre,
                        Vec3d* half, Vec3d* low, Vec3d* high, double* area) {
  const std::int64_t j = thread_index();
  if (j >= n) return;
  const std::int64_t panel = pieces.panel[j];
  const Vec3d* const v = vertices + 3 * panel;
  const Triangle t = make_triangle(v[0], v[1], v[2]);
  StripExtent extent{t.centroid, {}, v[0], v[0], t.area};
  if (pieces.is_cut(panel)) {
    extent = extent_of(pieces.strip_of(panel, t), pieces.begin_of(j), pieces.end_of(j));
  } else {
    for (int k = 1; k < 3; ++k)
      for (int axis = 0; axis < 3; ++axis) {
        extent.low[axis] = fmin(extent.low[axis], v[k][axis]);
        extent.high[axis] = fmax(extent.high[axis], v[k][axis]);
      }
  }
  centre[j] = extent.centre;
  half[j] = extent.half;
  low[j] = extent.low;
  high[j] = extent.high;
  area[j] = extent.area;
}

}  // namespace

DevicePieces::DevicePieces(std::span<const Triangle> panels, const PanelPieces& pieces,
                           cudaStream_t stream)
    : inflation(pieces.inflation()),
      panel(to_device(pieces.panel_of_pieces(), stream)),
      first(to_device(pieces.first_pieces(), stream)),
      place(to_device(pieces.places(), stream)) {
  const auto n = static_cast<std::int64_t>(panels.size());
  std::vector<std::int8_t> edges(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t j = 0; j < n; ++j)
    edges[j] = static_cast<std::int8_t>(longest_edge_of(panels[j]));
  edge = to_device(edges, stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));  // the vector ends here
}

PieceExtents DevicePieces::extents(const Vec3d* vertices, cudaStream_t stream) const {
  const std::int64_t n = size();
  PieceExtents extents{DeviceBuffer<Vec3d>(n, stream), DeviceBuffer<Vec3d>(n, stream),
                       DeviceBuffer<Vec3d>(n, stream), DeviceBuffer<Vec3d>(n, stream),
                       DeviceBuffer<double>(n, stream)};
  launch(measure, blocks_for(n), threads_per_block, 0, stream, view(), n, vertices,
         extents.centre.data(), extents.half.data(), extents.low.data(), extents.high.data(),
         extents.area.data());
  return extents;
}

}  // namespace fmbem::cuda::bem
