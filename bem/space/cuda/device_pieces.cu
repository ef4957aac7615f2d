#include <vector>

#include "fmbem/bem/space/cuda/device_pieces.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void measure_pieces(PiecesView pieces, std::int64_t n, const Vec3d* vertices,
                               Vec3d* centre, Vec3d* half, Vec3d* low, Vec3d* high, double* area) {
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

/// What is found of each panel; its pieces are only counted where `first` is null.
struct CutPanels {
  std::int32_t* count;        ///< [panels + 1], the last is 0
  std::int8_t* edge;          ///< [panels]
  const std::int32_t* first;  ///< [panels + 1], pieces before each panel
  std::int32_t* panel;        ///< [pieces]
  double* place;              ///< [pieces + panels]
};

/// Counts pieces and writes them, by the same instructions, so that both round in the same way.
__global__ void cut_panels(const Vec3d* vertices, std::int64_t n, BoxPlanes planes, CutPanels out) {
  const std::int64_t j = thread_index();
  if (j > n) return;
  std::int32_t pieces = 0;
  if (j < n) {
    const Triangle t = make_triangle(vertices[3 * j], vertices[3 * j + 1], vertices[3 * j + 2]);
    const int longest = longest_edge_of(t);
    const auto begin_piece = [&](double at) {
      if (out.first) {
        out.panel[out.first[j] + pieces] = static_cast<std::int32_t>(j);
        out.place[out.first[j] + j + pieces] = at;
      }
      ++pieces;
    };
    begin_piece(0);
    if (is_long(t)) for_cuts(make_strip(t, longest), planes, begin_piece);
    out.edge[j] = static_cast<std::int8_t>(longest);
    if (out.first) out.place[out.first[j] + j + pieces] = t.length[longest];
  }
  out.count[j] = pieces;
}

__global__ void flag_long(const Vec3d* vertices, std::int64_t n, std::int32_t* flag) {
  const std::int64_t j = thread_index();
  if (j < n)
    flag[j] = is_long(make_triangle(vertices[3 * j], vertices[3 * j + 1], vertices[3 * j + 2]));
}

/// Strips of sampled long panels, or centroids of sampled panels.
__global__ void take_strips(const Vec3d* vertices, const std::int32_t* panel, SampleOf sample,
                            Strip* strip) {
  const std::int64_t k = thread_index();
  if (k >= static_cast<std::int64_t>(sample.size())) return;
  const Vec3d* const v = vertices + 3 * std::int64_t{panel[sample[k]]};
  strip[k] = make_strip(make_triangle(v[0], v[1], v[2]));
}
__global__ void take_targets(const Vec3d* centroid, SampleOf sample, Vec3d* target) {
  const std::int64_t k = thread_index();
  if (k < static_cast<std::int64_t>(sample.size())) target[k] = centroid[sample[k]];
}

PanelSample sample_of(const PanelStore& panels, const DeviceBuffer<std::int32_t>& long_panels,
                      cudaStream_t stream) {
  const Vec3d* const vertices = panels.vertices.data();
  const SampleOf strips = PanelSample::sources_of(long_panels.size()),
                 targets = PanelSample::targets_of(panels.size());
  const DeviceBuffer<Strip> strip(strips.size(), stream);
  const DeviceBuffer<Vec3d> target(targets.size(), stream);
  launch(take_strips, blocks_for(strip.size()), threads_per_block, 0, stream, vertices,
         long_panels.data(), strips, strip.data());
  launch(take_targets, blocks_for(target.size()), threads_per_block, 0, stream,
         panels.centroid.data(), targets, target.data());
  const Bounds bounds = bounds_of(vertices, 3 * panels.size(), stream);
  PanelSample sample{std::vector<Strip>(strips.size()), std::vector<Vec3d>(targets.size()),
                     targets.n, strips.n, bounding_cube(bounds.low, bounds.high)};
  strip.download(sample.strips.data());
  target.download(sample.targets.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return sample;
}

}  // namespace

DevicePieces::DevicePieces(const PanelStore& panels, const CutBoxes& boxes, cudaStream_t stream)
    : inflation(boxes.inflation), first(panels.size() + 1, stream), edge(panels.size(), stream) {
  const std::int64_t n = panels.size();
  DeviceBuffer<std::int32_t> count(n + 1, stream);
  const auto cut = [&](const std::int32_t* first_pieces) {
    launch(cut_panels, blocks_for(n + 1), threads_per_block, 0, stream, panels.vertices.data(), n,
           boxes.planes,
           CutPanels{count.data(), edge.data(), first_pieces, panel.data(), place.data()});
  };
  cut(nullptr);
  exclusive_sum(count.data(), first.data(), n + 1, stream);
  const std::int32_t pieces = download_one(first.data() + n, stream);
  panel = DeviceBuffer<std::int32_t>(pieces, stream);
  place = DeviceBuffer<double>(pieces + n, stream);
  cut(first.data());
}

PieceExtents DevicePieces::extents(const Vec3d* vertices, cudaStream_t stream) const {
  const std::int64_t n = size();
  PieceExtents extents{DeviceBuffer<Vec3d>(n, stream), DeviceBuffer<Vec3d>(n, stream),
                       DeviceBuffer<Vec3d>(n, stream), DeviceBuffer<Vec3d>(n, stream),
                       DeviceBuffer<double>(n, stream)};
  launch(measure_pieces, blocks_for(n), threads_per_block, 0, stream, view(), n, vertices,
         extents.centre.data(), extents.half.data(), extents.low.data(), extents.high.data(),
         extents.area.data());
  return extents;
}

std::unique_ptr<DevicePieces> cut_long_panels(const PanelStore& panels, const PieceCosts& costs,
                                              cudaStream_t stream) {
  DeviceBuffer<std::int32_t> flag(panels.size(), stream);
  launch(flag_long, blocks_for(panels.size()), threads_per_block, 0, stream, panels.vertices.data(),
         panels.size(), flag.data());
  const DeviceBuffer<std::int32_t> long_panels = where(flag, stream);
  if (long_panels.size() == 0) return nullptr;
  const auto boxes = choose_cut_boxes(sample_of(panels, long_panels, stream), costs);
  return boxes ? std::make_unique<DevicePieces>(panels, *boxes, stream) : nullptr;
}

}  // namespace fmbem::cuda::bem
