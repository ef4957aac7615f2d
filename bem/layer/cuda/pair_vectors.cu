#include "fmbem/bem/layer/cuda/add_scaled.cuh"
#include "fmbem/bem/layer/cuda/pair_vectors.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/check.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Null where all panels are of one surface.
struct SurfaceOf {
  const std::int32_t* of;
  __device__ std::int32_t operator[](std::int64_t panel) const { return of ? of[panel] : 0; }
};

/// Some panels; null: all.
struct Chosen {
  const std::int32_t* panel;
  __device__ std::int64_t operator[](std::int64_t k) const { return panel ? panel[k] : k; }
};

__global__ void multiply_blocks(const double* blocks, bool are_of_surfaces, SurfaceOf surface,
                                std::int64_t n, const double* x, double* y) {
  const std::int64_t i = thread_index(), at = 2 * (blockIdx.y * n + i);
  if (i >= n) return;
  const double* const b = blocks + 4 * (are_of_surfaces ? surface[i] : i);
  const double x0 = x[at], x1 = x[at + 1];
  y[at] = b[0] * x0 + b[1] * x1;
  y[at + 1] = b[2] * x0 + b[3] * x1;
}

__global__ void take_sources(Chosen from, SurfaceOf surface, const PairFactors* factors,
                             std::int64_t n, const double* x, double* sources) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int64_t panel = from[k];
  const PairFactors& of = factors[surface[panel]];
  sources[k] = of.sigma * x[2 * panel + 1];
  sources[n + k] = of.mu * x[2 * panel];
}

/// Results of one kind go to the row of their panel's surface, of two kinds to both rows.
__global__ void add_to_rows(Chosen to, SurfaceOf surface, const PairFactors* factors, int outputs,
                            const double* results, std::int64_t n, double* y) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int64_t panel = to[k];
  const PairFactors& of = factors[surface[panel]];
  for (int kind = 0; kind < outputs; ++kind) {
    const int row = outputs == 2 ? kind : of.row;
    y[2 * panel + row] += of.weight[kind] * results[kind * n + k];
  }
}

std::int64_t count_in(std::span<const std::int32_t> some, std::size_t all) {
  return static_cast<std::int64_t>(some.empty() ? all : some.size());
}

}  // namespace

void PairBlocks::multiply(const double* x, double* y, int vectors) const {
  const auto n = static_cast<std::int64_t>(panels_);
  launch(multiply_blocks, dim3(blocks_for(n), vectors), threads_per_block, 0, nullptr,
         blocks_.data(), is_of_surfaces_, SurfaceOf{surface_of()}, n, x, y);
}

void PairBlocks::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }

struct PairPart::Impl {
  Impl(const PairBlocks& blocks, const PairPlaces& places)
      : n_from(count_in(places.from, blocks.panels())),
        n_to(count_in(places.to, blocks.panels())),
        outputs(places.outputs),
        surface{blocks.surface_of()},
        from(to_device(places.from, nullptr)),
        to(to_device(places.to, nullptr)),
        factors(to_device(places.factors, nullptr)),
        sources(2 * n_from, nullptr),
        results(outputs * n_to, nullptr),
        flux(outputs == 2 ? n_to : 0, nullptr) {
    FMBEM_CUDA(cudaStreamSynchronize(nullptr));  // what was copied ends here
  }

  std::int64_t n_from, n_to;
  int outputs;
  SurfaceOf surface;
  DeviceBuffer<std::int32_t> from, to;
  DeviceBuffer<PairFactors> factors;
  DeviceBuffer<double> sources, results, flux;
};

PairPart::PairPart(const PairBlocks& blocks, const PairPlaces& places)
    : impl_(std::make_unique<Impl>(blocks, places)) {}
PairPart::~PairPart() = default;
PairPart::PairPart(PairPart&&) noexcept = default;
PairPart& PairPart::operator=(PairPart&&) noexcept = default;

double* PairPart::results() const { return impl_->results.data(); }
double* PairPart::flux() const { return impl_->flux.data(); }

const double* PairPart::sources(const double* x) const {
  const Impl& own = *impl_;
  launch(take_sources, blocks_for(own.n_from), threads_per_block, 0, nullptr,
         Chosen{own.from.data()}, own.surface, own.factors.data(), own.n_from, x,
         own.sources.data());
  return own.sources.data();
}

void PairPart::clear() const { impl_->results.fill_bytes(0); }

void PairPart::add_flux(double factor) const {
  const std::int64_t n = impl_->n_to;
  launch(add_scaled, blocks_for(n), threads_per_block, 0, nullptr, flux(), factor, n,
         results() + n);
}

void PairPart::add(double* y) const {
  const Impl& own = *impl_;
  launch(add_to_rows, blocks_for(own.n_to), threads_per_block, 0, nullptr, Chosen{own.to.data()},
         own.surface, own.factors.data(), own.outputs, own.results.data(), own.n_to, y);
}

}  // namespace fmbem::cuda::bem
