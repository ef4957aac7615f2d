#include <utility>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/geometry/cuda/sort_panels.hpp"
#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/cuda/tree.cuh"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem::cuda::bem {
namespace {

__global__ void find_centroids(const Vec3d* vertices, const int* corners, std::int64_t n,
                               Vec3d* centroid) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const int* own = corners + 3 * i;
  centroid[i] = centroid_of(vertices[own[0]], vertices[own[1]], vertices[own[2]]);
}

/// Computes keys in the root that the host takes, from the same bits: differences, quotients, and
/// products with powers of two are all there is, so no operation can be fused with another.
SortedKeys sort_triangles(const TrianglesOnDevice& triangles, cudaStream_t stream) {
  const std::int64_t n = triangles.size();
  DeviceBuffer<Vec3d> centroid(n, stream);
  launch(find_centroids, blocks_for(n), threads_per_block, 0, stream, triangles.vertices.data(),
         triangles.corners.data(), n, centroid.data());
  const Bounds bounds = bounds_of(centroid.data(), n, stream);
  FMBEM_REQUIRE(bounds.first_bad == n, "point " << bounds.first_bad << " is not finite");
  return sort_points(centroid.data(), n, 1, bounding_cube(bounds.low, bounds.high), nullptr,
                     stream);
}

/// Converts the device's indices to the host's type.
LargeVector<std::int64_t> widened(const DeviceBuffer<std::int32_t>& from, cudaStream_t stream) {
  LargeVector<std::int64_t> to(from.size());
  Staging().download(
      static_cast<std::int64_t>(from.size()), sizeof(std::int32_t), stream,
      [&](std::int64_t first, std::int64_t some, void* room) {
        FMBEM_CUDA(cudaMemcpyAsync(room, from.data() + first, some * sizeof(std::int32_t),
                                   cudaMemcpyDeviceToHost, stream));
      },
      [&](std::int64_t first, std::int64_t some, const void* room) {
        const auto* const index = static_cast<const std::int32_t*>(room);
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < some; ++k) to[first + k] = index[k];
      });
  return to;
}

}  // namespace

SortedPanels sort_panels(std::span<const Vec3d> vertices,
                         std::span<const std::array<int, 3>> triangles, double extent) {
  require_cuda_device();
  keep_freed_memory();
  fmm::check_point_count(triangles.size(), "panel");
  return with_advice(true, [&] {
    // In the default stream, since the panels outlive the streams of operators.
    const cudaStream_t stream = nullptr;
    const TrianglesOnDevice on_device(vertices, triangles, stream);
    SortedKeys sorted = sort_triangles(on_device, stream);
    SortedPanels result;
    result.order = widened(sorted.order, stream);
    result.keys.resize(sorted.keys.size());
    copy_to_host(sorted.keys.data(), sorted.keys.size(), result.keys.data(), stream);
    result.store = std::make_shared<const PanelStore>(on_device, sorted.order.data(),
                                                      std::move(sorted.keys), extent, stream);
    return result;
  });
}

}  // namespace fmbem::cuda::bem
