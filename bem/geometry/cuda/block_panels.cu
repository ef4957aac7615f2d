#include "fmbem/bem/geometry/chosen_panels.hpp"
#include "fmbem/bem/geometry/cuda/block_panels.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void gather_points(const Vec3d* from, const std::int32_t* number, std::int64_t n,
                              Vec3d* to) {
  const std::int64_t k = thread_index();
  if (k < n) to[k] = from[number[k]];
}

}  // namespace

BlockPanels::BlockPanels(const Panels& panels, const PanelBlock& block, cudaStream_t stream)
    : all(store_of(panels, stream)),
      sources(block.columns.empty() ? all
                                    : store_of(chosen_panels(panels, block.columns), stream)) {
  if (!block.is_whole()) {
    std::vector<std::int32_t> source(panels.size(), -1);
    for (std::size_t k = 0; k < columns(); ++k)
      source[panel_of(block.columns, k)] = static_cast<std::int32_t>(k);
    own_source.resize(count_of(block.rows, panels.size()));
    for (std::size_t k = 0; k < own_source.size(); ++k)
      own_source[k] = source[panel_of(block.rows, k)];
  }
  if (!block.rows.empty()) {
    const auto n = static_cast<std::int64_t>(block.rows.size());
    const DeviceBuffer<std::int32_t> number = to_device(block.rows, stream);
    chosen_centroid_ = DeviceBuffer<Vec3d>(n, stream);
    launch(gather_points, blocks_for(n), threads_per_block, 0, stream, all->centroid.data(),
           number.data(), n, chosen_centroid_.data());
  }
  FMBEM_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace fmbem::cuda::bem
