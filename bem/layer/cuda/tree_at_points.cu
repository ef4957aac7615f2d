#include "fmbem/bem/layer/cuda/tree_at_points.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

__global__ void subtract(Vec3d origin, std::int64_t n, Vec3d* points) {
  const std::int64_t i = thread_index();
  if (i < n) points[i] = points[i] - origin;
}

}  // namespace

SpreadTree grow_tree_at_points(const PanelStore& panels, const PlacesOfPoints& places,
                               SpreadOptions options, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(places.points.size());
  DeviceBuffer<Vec3d> there(n, stream);
  copy_to_device(places.points.data(), places.points.size(), there.data(), stream);
  launch(subtract, blocks_for(n), threads_per_block, 0, stream, places.origin, n, there.data());
  const Bounds bounds = bounds_of(there.data(), n, stream);
  FMBEM_REQUIRE(bounds.first_bad == n,
                "point " << places.before + bounds.first_bad << " is not finite");
  options.targets_of_a_warp = points_of_a_warp;
  return grow_panel_tree(panels, there, options, stream);
}

}  // namespace fmbem::cuda::bem
