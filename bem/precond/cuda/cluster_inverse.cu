#include <memory>
#include <utility>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/bem/precond/cuda/cluster_inverse.hpp"
#include "fmbem/bem/precond/cuda/device_inverse.cuh"
#include "fmbem/cuda/device.hpp"

namespace fmbem::cuda::bem {
namespace {

std::shared_ptr<const PanelStore> upload(const Panels& panels) {
  require_cuda_device();
  keep_freed_memory();
  return store_of(panels, nullptr);
}

/// Waits for the stream, as others apply what was built in it.
RowsProduct build(const DevicePanels& panels, const ClusterInverseOptions& options,
                  cudaStream_t stream) {
  DeviceClusterTree tree = make_cluster_tree(panels, options.max_leaf, stream);
  DeviceCuts cuts = make_cuts(tree, options, stream);
  DeviceRows rows = solve_systems(tree, cuts, panels, options.max_leaf, stream);
  RowsProduct product(tree, std::move(cuts), std::move(rows), panels.extent, options.max_leaf,
                      stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return product;
}

struct ClusterImpl final : DeviceInverse::Impl {
  ClusterImpl(const DevicePanels& panels, const ClusterInverseOptions& options)
      : product(build(panels, checked(options), stream)) {}
  void apply(const double* x, double* y, int vectors, cudaStream_t in) const override {
    product.apply(x, y, vectors, in);
  }
  std::int64_t size() const override { return product.size(); }
  std::int64_t bytes() const override { return product.bytes(); }

  Stream stream;  // outlives what was allocated in it
  RowsProduct product;
};

}  // namespace

ClusterInverse::ClusterInverse(const Panels& panels, const ClusterInverseOptions& options)
    : ClusterInverse(upload(panels)->view(), options) {}
ClusterInverse::ClusterInverse(const DevicePanels& panels, const ClusterInverseOptions& options)
    : DeviceInverse("cluster inverse") {
  require_cuda_device();
  keep_freed_memory();
  auto impl = std::make_unique<ClusterImpl>(panels, options);
  leaves_ = impl->product.leaves();
  mean_unknowns_ = static_cast<double>(impl->product.unknowns()) / static_cast<double>(leaves_);
  set(std::move(impl));
}

}  // namespace fmbem::cuda::bem
