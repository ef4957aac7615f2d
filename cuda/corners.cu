#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/corners.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda {
namespace {

using Weight = unsigned long long;

/// A row of blocks for each level of a root.
__global__ void weigh_corners(const Vec3d* points, std::int64_t n, double scale, Vec3d root_corner,
                              double first_cells, int order, Weight* weights) {
  const double cells = first_cells * (1 << blockIdx.y);
  Weight mine = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = thread_index(); i < n; i += stride)
    mine += fmm::corner_weight(scale * points[i], root_corner, cells, order);
  for (int lanes = warp_size / 2; lanes > 0; lanes /= 2)
    mine += __shfl_xor_sync(whole_warp, mine, lanes);
  if (threadIdx.x % warp_size == 0) atomicAdd(&weights[blockIdx.y], mine);
}

}  // namespace

fmm::CornerWeights corner_weights(const Vec3d* points, std::int64_t n, double scale,
                                  std::span<const Cube> roots, int order, cudaStream_t stream) {
  constexpr unsigned most_blocks = 512;
  DeviceBuffer<Weight> weights(fmm::corner_roots * fmm::corner_levels, stream);
  weights.fill_bytes(0);
  for (int k = 0; k < fmm::corner_roots; ++k)
    launch(weigh_corners, dim3(std::min(blocks_for(n), most_blocks), fmm::corner_levels),
           threads_per_block, 0, stream, points, n, scale, roots[k].corner, 4 / roots[k].side,
           order, weights.data() + k * fmm::corner_levels);
  fmm::CornerWeights host{};
  static_assert(sizeof host == fmm::corner_roots * fmm::corner_levels * sizeof(Weight));
  weights.download(reinterpret_cast<Weight*>(&host));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return host;
}

}  // namespace fmbem::cuda
