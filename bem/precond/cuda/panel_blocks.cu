#include <utility>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/near/cuda/close_difference.cuh"
#include "fmbem/bem/precond/cuda/panel_blocks.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Of the entries of slivers, far below what preconditioners need.
constexpr double of_entries = 1e-6;

__global__ void __launch_bounds__(threads_per_block)
    invert_blocks(const Vec3d* vertices, const std::int32_t* surface_of,
                  const PanelBlockTerms* terms, std::int64_t n,
                  const __grid_constant__ CloseRules rules, double* inverse) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const PanelBlockTerms& of = terms[surface_of ? surface_of[i] : 0];
  const Triangle t = make_triangle(vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]);
  double v = 0, d = 0;
  for (int term = 0; term < 2; ++term) {
    if (of.kappa[term] == 0) continue;
    const PanelEntries own = close_difference(rules, t, t.centroid, t.normal, of.kappa[term]);
    v += of.v[term] * own.v;
    d += of.d[term] * own.d;
  }
  const double a = of.diagonal[0], b = of.upper * v, c = of.lower * d, e = of.diagonal[1],
               determinant = a * e - b * c;
  const double block[4] = {e, -b, -c, a};
  for (int k = 0; k < 4; ++k) inverse[4 * i + k] = block[k] / determinant;
}

}  // namespace

PairBlocks inverse_of_panel_blocks(const Panels& panels, const PanelSurfaces& surfaces,
                                   std::span<const PanelBlockTerms> terms) {
  const std::shared_ptr<const PanelStore> store = store_of(panels, nullptr);
  const std::int64_t n = store->size();
  DeviceArray<double> inverse(static_cast<std::size_t>(4 * n));
  DeviceBuffer<std::int32_t> surface_of(surfaces.of.size(), nullptr);
  copy_to_device(surfaces.of.data(), surfaces.of.size(), surface_of.data(), nullptr);
  const DeviceBuffer<PanelBlockTerms> on_device = to_device(terms, nullptr);
  launch(invert_blocks, blocks_for(n), threads_per_block, 0, nullptr, store->vertices.data(),
         surface_of.data(), on_device.data(), n, CloseRules(of_entries), inverse.data());
  FMBEM_CUDA(cudaStreamSynchronize(nullptr));  // the panels may end here
  return PairBlocks(std::move(inverse));
}

}  // namespace fmbem::cuda::bem
