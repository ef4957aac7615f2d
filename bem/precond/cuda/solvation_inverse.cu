#include <memory>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/bem/precond/cuda/device_inverse.cuh"
#include "fmbem/bem/precond/cuda/solvation_inverse.hpp"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/bem/precond/solvation_nodes.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// φ and q, and the equations of the regions behind and ahead.
constexpr int fields = 2;

/// From [vectors][n panels][fields] to [vectors][fields][n places].
__global__ void take_fields(const std::int32_t* panel_at, std::int64_t n, const double* x,
                            double* at_places) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  for (int f = 0; f < fields; ++f)
    at_places[(blockIdx.y * std::int64_t{fields} + f) * n + k] =
        x[(blockIdx.y * n + panel_at[k]) * fields + f];
}

/// From [vectors][n places][fields] to [vectors][n panels][fields].
__global__ void put_fields(const std::int32_t* panel_at, std::int64_t n, const double* at_places,
                           double* y) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  for (int f = 0; f < fields; ++f)
    y[(blockIdx.y * n + panel_at[k]) * fields + f] = at_places[(blockIdx.y * n + k) * fields + f];
}

std::vector<std::int32_t> panels_at_places(const ClusterTree& tree) {
  std::vector<std::int32_t> panels(tree.size());
  for (std::size_t k = 0; k < panels.size(); ++k)
    panels[k] = tree.panel(static_cast<std::int32_t>(k));
  return panels;
}

/// Waits for the stream, as others apply what was built in it.
RowsProduct build(const Panels& panels, const ClusterTree& tree,
                  std::span<const Triangle> triangles, const RegionsOfPanels& regions,
                  const DeviceBuffer<std::int32_t>& panel_at, cudaStream_t stream) {
  const std::shared_ptr<const PanelStore> store = store_of(panels, stream);
  const std::vector<NodeSides> host_sides = sides_of_nodes(tree, triangles, regions);
  DeviceClusterTree on_device;
  on_device.nodes = to_device(tree.nodes, stream);
  on_device.leaves = to_device(tree.leaves, stream);
  const DeviceBuffer<NodeSides> sides = to_device(host_sides, stream);
  const DeviceBuffer<double> permittivity = to_device(regions.permittivity, stream),
                             kappa = to_device(regions.kappa, stream);
  DeviceCuts cuts = make_cuts(on_device, solvation_cuts, stream);
  DeviceRows rows = solve_solvation_systems({on_device.nodes.data(),
                                             sides.data(),
                                             panel_at.data(),
                                             store->vertices.data(),
                                             {permittivity.data(), kappa.data()}},
                                            tree, on_device.leaves, cuts, stream);
  RowsProduct product(tree, std::move(cuts), std::move(rows), fields, stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return product;
}

struct SolvationImpl final : DeviceInverse::Impl {
  SolvationImpl(const Panels& panels, const RegionsOfPanels& regions)
      : SolvationImpl(panels, triangles_of(panels), regions) {}
  SolvationImpl(const Panels& panels, const LargeVector<Triangle>& triangles,
                const RegionsOfPanels& regions)
      : SolvationImpl(panels, triangles, regions, solvation_trees(panels, triangles, regions)) {}
  SolvationImpl(const Panels& panels, const LargeVector<Triangle>& triangles,
                const RegionsOfPanels& regions, const ClusterTree& tree)
      : SolvationImpl(panels, triangles, regions, tree, panels_at_places(tree)) {}
  SolvationImpl(const Panels& panels, const LargeVector<Triangle>& triangles,
                const RegionsOfPanels& regions, const ClusterTree& tree,
                const std::vector<std::int32_t>& places)
      : panel_at(to_device(places, stream)),
        rows(build(panels, tree, triangles, regions, panel_at, stream)) {}

  void apply(const double* x, double* y, int vectors, cudaStream_t in) const override {
    const std::int64_t n = rows.size(), all = fields * n * vectors;
    DeviceBuffer<double> x_at(all, in), y_at(all, in);
    const dim3 grid(blocks_for(n), vectors);
    launch(take_fields, grid, threads_per_block, 0, in, panel_at.data(), n, x, x_at.data());
    rows.apply(x_at.data(), y_at.data(), vectors, in);
    launch(put_fields, grid, threads_per_block, 0, in, panel_at.data(), n, y_at.data(), y);
  }

  std::int64_t size() const override { return fields * rows.size(); }
  std::int64_t bytes() const override { return rows.bytes() + panel_at.bytes(); }

  Stream stream;  // outlives what was allocated in it
  DeviceBuffer<std::int32_t> panel_at;
  RowsProduct rows;
};

}  // namespace

SolvationInverse::SolvationInverse(const Panels& panels, const RegionsOfPanels& regions)
    : DeviceInverse("cluster inverse for potentials and fluxes") {
  require_cuda_device();
  keep_freed_memory();
  with_advice(false, [&] { set(std::make_unique<SolvationImpl>(panels, regions)); });
}

}  // namespace fmbem::cuda::bem
