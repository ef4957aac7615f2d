#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/bem/precond/cuda/device_inverse.cuh"
#include "fmbem/bem/precond/cuda/from_panels_up.cuh"
#include "fmbem/bem/precond/cuda/solvation_inverse.hpp"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/bem/precond/solvation_nodes.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/copied.cuh"
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

__global__ void take_keys(const std::int32_t* panel_at, std::int64_t n, const std::uint64_t* keys,
                          std::uint64_t* keys_at) {
  const std::int64_t k = thread_index();
  if (k < n) keys_at[k] = keys[panel_at[k]];
}

struct FindSides {
  const Cluster* nodes;
  const std::int32_t* panel_at;
  const Vec3d* vertices;
  const int *inside, *outside;
  NodeSides* sides;

  __device__ void of_panel(std::int32_t k) const {
    const std::int64_t panel = panel_at[nodes[k].begin];
    const Vec3d* const v = vertices + 3 * panel;
    sides[k] = {make_triangle(v[0], v[1], v[2]).normal, 0, inside[panel], outside[panel]};
  }
  __device__ void of_halves(std::int32_t k) const {
    const std::int32_t left = nodes[k].left, right = nodes[k].right;
    sides[k] = sides_of_halves(nodes[left], sides[left], nodes[right], sides[right]);
  }
};

/// One tree for each surface.
DeviceClusterTree make_trees(const PanelStore& panels, std::span<const std::int32_t> tree_begin,
                             const DeviceBuffer<std::int32_t>& panel_at, cudaStream_t stream) {
  const DevicePanels view = panels.view();
  const DeviceBuffer<std::int32_t> begins = copied_to_device(tree_begin, stream);
  DeviceBuffer<std::uint64_t> keys(view.size, stream);
  launch(take_keys, blocks_for(view.size), threads_per_block, 0, stream, panel_at.data(), view.size,
         view.keys, keys.data());
  const PlacesView places{keys.data(),   panel_at.data(),
                          nullptr,       nullptr,
                          begins.data(), static_cast<std::int32_t>(tree_begin.size()) - 1};
  return make_cluster_tree(view, places, solvation_cuts.max_leaf, stream);
}

/// Waits for the stream, as others apply what was built in it.
RowsProduct build(const Panels& panels, const RegionsOfPanels& regions,
                  std::span<const std::int32_t> tree_begin,
                  const DeviceBuffer<std::int32_t>& panel_at, cudaStream_t stream) {
  const std::shared_ptr<const PanelStore> store = store_of(panels, stream);
  DeviceClusterTree tree = make_trees(*store, tree_begin, panel_at, stream);
  DeviceBuffer<NodeSides> sides(tree.nodes.size(), stream);
  {
    const DeviceBuffer<int> inside = copied_to_device(regions.inside, stream),
                            outside = copied_to_device(regions.outside, stream);
    from_panels_up(tree,
                   FindSides{tree.nodes.data(), panel_at.data(), store->vertices.data(),
                             inside.data(), outside.data(), sides.data()},
                   stream);
  }
  const DeviceBuffer<double> permittivity = to_device(regions.permittivity, stream),
                             kappa = to_device(regions.kappa, stream);
  DeviceCuts cuts = make_cuts(tree, solvation_cuts, stream);
  DeviceRows rows = solve_solvation_systems(
      {sides.data(), panel_at.data(), store->vertices.data(), {permittivity.data(), kappa.data()}},
      tree, cuts, stream);
  RowsProduct product(tree, std::move(cuts), std::move(rows), 1, solvation_cuts.max_leaf, stream,
                      fields);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return product;
}

struct SolvationImpl final : DeviceInverse::Impl {
  SolvationImpl(const Panels& panels, const RegionsOfPanels& regions)
      : SolvationImpl(panels, regions, PanelSurfaces(regions.inside, regions.outside)) {}
  SolvationImpl(const Panels& panels, const RegionsOfPanels& regions, const PanelSurfaces& surfaces)
      : panel_at(copied_to_device(surfaces.panel, stream)),
        rows(build(panels, regions, surfaces.begin, panel_at, stream)) {}

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
