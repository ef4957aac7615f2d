#include "fmbem/bem/geometry/cuda/block_panels.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void gather_points(const Vec3d* from, const std::int32_t* number, std::int64_t n,
                              Vec3d* to) {
  const std::int64_t k = thread_index();
  if (k < n) to[k] = from[number[k]];
}

/// own_of: [panels], the place of each among the columns, else −1.
__global__ void number_columns(const std::int32_t* column, std::int64_t n, std::int32_t* own_of) {
  const std::int64_t k = thread_index();
  if (k < n) own_of[column[k]] = static_cast<std::int32_t>(k);
}

__global__ void take_numbers(const std::int32_t* from, const std::int32_t* number, std::int64_t n,
                             std::int32_t* to) {
  const std::int64_t k = thread_index();
  if (k < n) to[k] = from[number[k]];
}

}  // namespace

BlockPanels::BlockPanels(const Panels& panels, const PanelBlock& block, cudaStream_t stream)
    : all(store_of(panels, stream)), sources(all) {
  if (block.is_whole()) return;
  const auto n = static_cast<std::int64_t>(panels.size()),
             n_rows = static_cast<std::int64_t>(block.rows.size()),
             n_columns = static_cast<std::int64_t>(block.columns.size());
  const auto row = copied_to_device(block.rows, stream),
             column = copied_to_device(block.columns, stream);
  if (n_columns > 0) {
    sources = std::make_shared<const PanelStore>(*all, column, stream);
    DeviceBuffer<std::int32_t> own_of(n, stream);
    own_of.fill_bytes(0xff);
    launch(number_columns, blocks_for(n_columns), threads_per_block, 0, stream, column.data(),
           n_columns, own_of.data());
    own_source = std::move(own_of);
  }
  if (n_rows > 0) {
    chosen_centroid_ = DeviceBuffer<Vec3d>(n_rows, stream);
    launch(gather_points, blocks_for(n_rows), threads_per_block, 0, stream, all->centroid.data(),
           row.data(), n_rows, chosen_centroid_.data());
    if (n_columns > 0) {
      DeviceBuffer<std::int32_t> of_rows(n_rows, stream);
      launch(take_numbers, blocks_for(n_rows), threads_per_block, 0, stream, own_source.data(),
             row.data(), n_rows, of_rows.data());
      own_source = std::move(of_rows);
    } else {
      own_source = copied_to_device(block.rows, stream);
    }
  }
  FMBEM_CUDA(cudaStreamSynchronize(stream));
}

}  // namespace fmbem::cuda::bem
