#include "fmbem/bem/layer/cuda/pair_vectors.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/check.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void multiply_blocks(const double* blocks, std::int64_t n, const double* x, double* y) {
  const std::int64_t i = thread_index(), at = 2 * (blockIdx.y * n + i);
  if (i >= n) return;
  const double* const b = blocks + 4 * i;
  const double x0 = x[at], x1 = x[at + 1];
  y[at] = b[0] * x0 + b[1] * x1;
  y[at + 1] = b[2] * x0 + b[3] * x1;
}

__global__ void take_sources(const std::int32_t* panel, const double* sigma, const double* mu,
                             std::int64_t n, const double* x, double* sources) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int64_t at = 2 * std::int64_t{panel[k]};
  sources[k] = sigma[k] * x[at + 1];
  sources[n + k] = mu[k] * x[at];
}

__global__ void add_scaled(const double* from, double factor, std::int64_t n, double* to) {
  const std::int64_t k = thread_index();
  if (k < n) to[k] += factor * from[k];
}

/// No two results have one row.
__global__ void add_to_rows(const std::int32_t* row, const double* weight, const double* results,
                            std::int64_t n, double* y) {
  const std::int64_t k = thread_index();
  if (k < n) y[row[k]] += weight[k] * results[k];
}

}  // namespace

void PairBlocks::multiply(const double* x, double* y, int vectors) const {
  const auto n = static_cast<std::int64_t>(blocks_.size() / 4);
  launch(multiply_blocks, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         blocks_.data(), n, x, y);
}

void PairBlocks::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }

PairPart::PairPart(const PairPlaces& places)
    : panel_(std::span(places.panel)),
      row_(std::span(places.row)),
      sigma_(std::span(places.sigma)),
      mu_(std::span(places.mu)),
      weight_(std::span(places.weight)),
      sources_(2 * places.panel.size()),
      results_(places.row.size()),
      flux_(places.row.size() > places.panel.size() ? places.panel.size() : 0) {}

const double* PairPart::sources(const double* x) {
  const auto n = static_cast<std::int64_t>(panel_.size());
  launch(take_sources, blocks_for(n), threads_per_block, 0, nullptr, panel_.data(), sigma_.data(),
         mu_.data(), n, x, sources_.data());
  return sources_.data();
}

void PairPart::clear() const {
  FMBEM_CUDA(cudaMemsetAsync(results_.data(), 0, results_.size() * sizeof(double), nullptr));
}

void PairPart::add_flux(double factor) const {
  const auto n = static_cast<std::int64_t>(panel_.size());
  launch(add_scaled, blocks_for(n), threads_per_block, 0, nullptr, flux_.data(), factor, n,
         results_.data() + n);
}

void PairPart::add(double* y) const {
  const auto n = static_cast<std::int64_t>(row_.size());
  launch(add_to_rows, blocks_for(n), threads_per_block, 0, nullptr, row_.data(), weight_.data(),
         results_.data(), n, y);
}

}  // namespace fmbem::cuda::bem
