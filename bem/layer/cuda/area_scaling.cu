#include "fmbem/bem/layer/cuda/area_scaling.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

template <bool divides>
__global__ void scale_by(const double* area, std::int64_t n, const double* x, double* out) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const std::int64_t at = blockIdx.y * n + i;
  out[at] = divides ? x[at] / area[i] : x[at] * area[i];
}

template <bool divides>
void enqueue(const DeviceArray<double>& area, const double* x, int vectors, double* out) {
  const auto n = static_cast<std::int64_t>(area.size());
  launch(scale_by<divides>, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         area.data(), n, x, out);
}

}  // namespace

double* AreaScaling::room(int vectors) {
  const std::size_t numbers = area_.size() * static_cast<std::size_t>(vectors);
  if (room_.size() < numbers) room_ = DeviceArray<double>(numbers);
  return room_.data();
}

const double* AreaScaling::multiplied(const double* x, int vectors) {
  double* const out = room(vectors);
  enqueue<false>(area_, x, vectors, out);
  return out;
}
const double* AreaScaling::divided(const double* x, int vectors) {
  double* const out = room(vectors);
  enqueue<true>(area_, x, vectors, out);
  return out;
}
void AreaScaling::multiply(double* y, int vectors) const { enqueue<false>(area_, y, vectors, y); }
void AreaScaling::divide(double* y, int vectors) const { enqueue<true>(area_, y, vectors, y); }

}  // namespace fmbem::cuda::bem
