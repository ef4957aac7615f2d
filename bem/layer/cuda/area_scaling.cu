#include "fmbem/bem/layer/cuda/area_scaling.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

template <bool divides>
__device__ double scaled(double x, double area) {
  return divides ? x / area : x * area;
}

template <bool divides>
__global__ void scale_by(const double* area, std::int64_t n, const double* x, double* out) {
  const std::int64_t i = thread_index(), at = blockIdx.y * n + i;
  if (i < n) out[at] = scaled<divides>(x[at], area[i]);
}

/// An area for each vector.
template <bool divides>
__global__ void scale_each(const double* area, std::int64_t n, double* y) {
  const std::int64_t i = thread_index(), at = blockIdx.y * n + i;
  if (i < n) y[at] = scaled<divides>(y[at], area[blockIdx.y]);
}

template <bool divides>
void enqueue(const DeviceArray<double>& area, const double* x, int vectors, double* out) {
  const auto n = static_cast<std::int64_t>(area.size());
  launch(scale_by<divides>, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         area.data(), n, x, out);
}

template <bool divides>
void enqueue_each(const DeviceArray<double>& area, const Columns& panels, std::size_t length,
                  double* y) {
  const auto n = static_cast<std::int64_t>(length);
  launch(scale_each<divides>, dim3(blocks_for(n), static_cast<unsigned>(panels.count())),
         threads_per_block, 0, nullptr, area.data() + panels.begin, n, y);
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
void AreaScaling::multiply_each(double* y, const Columns& panels, std::size_t length) const {
  enqueue_each<false>(area_, panels, length, y);
}
void AreaScaling::divide_each(double* y, const Columns& panels, std::size_t length) const {
  enqueue_each<true>(area_, panels, length, y);
}
void AreaScaling::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }

}  // namespace fmbem::cuda::bem
