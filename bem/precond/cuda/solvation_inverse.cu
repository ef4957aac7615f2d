#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/bem/precond/cuda/cluster_trees.cuh"
#include "fmbem/bem/precond/cuda/solvation_inverse.hpp"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/bem/precond/solvation_nodes.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/host_vectors.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"

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

/// What panels at places have in place of panels in their order.
__global__ void take_panels(const std::int32_t* panel_at, std::int64_t n, const Vec3d* vertices,
                            const std::uint64_t* keys, Vec3d* vertices_at, std::uint64_t* keys_at) {
  const std::int64_t k = thread_index();
  if (k >= n) return;
  const std::int64_t panel = panel_at[k];
  for (int corner = 0; corner < 3; ++corner)
    vertices_at[3 * k + corner] = vertices[3 * panel + corner];
  keys_at[k] = keys[panel];
}

/// From the panels up, as measure_nodes() of the trees.
__global__ void find_sides(const Cluster* nodes, const std::int32_t* parent, std::int64_t n_nodes,
                           const std::int32_t* panel_at, const Vec3d* vertices, const int* inside,
                           const int* outside, unsigned* arrived, NodeSides* sides) {
  const std::int64_t node = thread_index();
  if (node >= n_nodes || !nodes[node].is_panel()) return;
  const std::int64_t panel = panel_at[nodes[node].begin];
  const Vec3d* const v = vertices + 3 * panel;
  sides[node] = {make_triangle(v[0], v[1], v[2]).normal, 0, inside[panel], outside[panel]};
  for (std::int32_t k = parent[node]; k >= 0; k = parent[k]) {
    __threadfence();
    if (atomicAdd(arrived + k, 1u) == 0) return;
    __threadfence();
    const std::int32_t left = nodes[k].left, right = nodes[k].right;
    sides[k] = sides_of_halves(nodes[left], sides[left], nodes[right], sides[right]);
  }
}

template <class T>
DeviceBuffer<T> staged(const std::vector<T>& from, cudaStream_t stream) {
  DeviceBuffer<T> buffer(from.size(), stream);
  copy_to_device(from.data(), from.size(), buffer.data(), stream);
  return buffer;
}

DeviceClusterTree make_trees(const PanelStore& panels, std::span<const std::int32_t> tree_begin,
                             const DeviceBuffer<std::int32_t>& panel_at, cudaStream_t stream) {
  DevicePanels view = panels.view();
  DeviceBuffer<Vec3d> vertices;
  DeviceBuffer<std::uint64_t> keys;
  if (tree_begin.size() > 2) {
    const std::int64_t n = panels.size();
    vertices = DeviceBuffer<Vec3d>(3 * n, stream);
    keys = DeviceBuffer<std::uint64_t>(n, stream);
    launch(take_panels, blocks_for(n), threads_per_block, 0, stream, panel_at.data(), n,
           view.vertices, view.keys, vertices.data(), keys.data());
    view = {vertices.data(), keys.data(), nullptr, nullptr, n, view.extent};
  }
  return make_cluster_trees(view, tree_begin, solvation_cuts.max_leaf, stream);
}

/// Waits for the stream, as others apply what was built in it.
RowsProduct build(const Panels& panels, const RegionsOfPanels& regions,
                  std::span<const std::int32_t> tree_begin,
                  const DeviceBuffer<std::int32_t>& panel_at, cudaStream_t stream) {
  FMBEM_REQUIRE(panels.size() < (std::size_t{1} << 30),
                "the preconditioner cannot take " << panels.size() << " panels");
  const std::shared_ptr<const PanelStore> store = store_of(panels, stream);
  const DeviceClusterTree tree = make_trees(*store, tree_begin, panel_at, stream);
  const auto n_nodes = static_cast<std::int64_t>(tree.nodes.size());
  DeviceBuffer<NodeSides> sides(n_nodes, stream);
  {
    const DeviceBuffer<int> inside = staged(regions.inside, stream),
                            outside = staged(regions.outside, stream);
    DeviceBuffer<unsigned> arrived(n_nodes, stream);
    arrived.fill_bytes(0);
    launch(find_sides, blocks_for(n_nodes), threads_per_block, 0, stream, tree.nodes.data(),
           tree.parent.data(), n_nodes, panel_at.data(), store->vertices.data(), inside.data(),
           outside.data(), arrived.data(), sides.data());
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

}  // namespace

struct SolvationInverse::Impl {
  Impl(const Panels& panels, const RegionsOfPanels& regions)
      : Impl(panels, regions, PanelSurfaces(regions.inside, regions.outside)) {}
  Impl(const Panels& panels, const RegionsOfPanels& regions, const PanelSurfaces& surfaces)
      : panel_at(staged(surfaces.panel, stream)),
        rows(build(panels, regions, surfaces.begin, panel_at, stream)) {}

  void apply(const double* x, double* y, int vectors, cudaStream_t in) const {
    const std::int64_t n = rows.size(), all = fields * n * vectors;
    DeviceBuffer<double> x_at(all, in), y_at(all, in);
    const dim3 grid(blocks_for(n), vectors);
    launch(take_fields, grid, threads_per_block, 0, in, panel_at.data(), n, x, x_at.data());
    rows.apply(x_at.data(), y_at.data(), vectors, in);
    launch(put_fields, grid, threads_per_block, 0, in, panel_at.data(), n, y_at.data(), y);
  }

  Stream stream;  // outlives what was allocated in it
  DeviceBuffer<std::int32_t> panel_at;
  RowsProduct rows;
};

SolvationInverse::SolvationInverse(const Panels& panels, const RegionsOfPanels& regions) {
  require_cuda_device();
  keep_freed_memory();
  with_advice(false, [&] { impl_ = std::make_unique<Impl>(panels, regions); });
}
SolvationInverse::~SolvationInverse() = default;

void SolvationInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  const Stream stream;
  with_advice(false, [&] {
    on_copies(x, size(), y, size(), product.vectors, stream, nullptr,
              [&](const double* d_x, double* d_y, int vectors) {
                impl_->apply(d_x, d_y, vectors, stream);
              });
  });
}

void SolvationInverse::multiply_on_device(const double* x, double* y,
                                          const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  with_advice(false, [&] { impl_->apply(x, y, product.vectors, nullptr); });
}

void SolvationInverse::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }
std::int64_t SolvationInverse::memory_bytes() const {
  return impl_->rows.bytes() + impl_->panel_at.bytes();
}
std::size_t SolvationInverse::size() const {
  return static_cast<std::size_t>(fields * impl_->rows.size());
}

}  // namespace fmbem::cuda::bem
