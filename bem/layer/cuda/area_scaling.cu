#include "fmbem/bem/layer/cuda/area_scaling.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

template <AreaScaling::How how>
__global__ void scale_by(const double* area, std::int64_t n, const double* x, double* out) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const std::int64_t at = blockIdx.y * n + i;
  out[at] = how == AreaScaling::How::times ? x[at] * area[i] : x[at] / area[i];
}

}  // namespace

const double* AreaScaling::scaled(How how, const double* x, int vectors) {
  if (room_.size() < area_.size() * vectors)
    room_ = DeviceArray<double>(area_.size() * static_cast<std::size_t>(vectors));
  enqueue(how, x, vectors, room_.data());
  return room_.data();
}

void AreaScaling::scale(How how, double* y, int vectors) const { enqueue(how, y, vectors, y); }

void AreaScaling::enqueue(How how, const double* x, int vectors, double* out) const {
  const auto n = static_cast<std::int64_t>(area_.size());
  launch(how == How::times ? scale_by<How::times> : scale_by<How::over>,
         dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr, area_.data(), n, x, out);
}

}  // namespace fmbem::cuda::bem
