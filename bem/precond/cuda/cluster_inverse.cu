#include <memory>
#include <utility>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/precond/cuda/cluster_apply.cuh"
#include "fmbem/bem/precond/cuda/cluster_inverse.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/host_vectors.cuh"

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
  FMBEM_REQUIRE(panels.size > 0 && panels.size < (std::int64_t{1} << 30),
                "the preconditioner cannot take " << panels.size << " panels");
  const DeviceClusterTree tree = make_cluster_tree(panels, options.max_leaf, stream);
  DeviceCuts cuts = make_cuts(tree, options, stream);
  DeviceRows rows = solve_systems(tree, cuts, panels, options.max_leaf, stream);
  RowsProduct product(tree, std::move(cuts), std::move(rows), panels.extent, options.max_leaf,
                      stream);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return product;
}

}  // namespace

struct ClusterInverse::Impl {
  Impl(const DevicePanels& panels, const ClusterInverseOptions& options)
      : product(build(panels, checked(options), stream)) {}
  Stream stream;  // outlives what was allocated in it
  RowsProduct product;
};

ClusterInverse::ClusterInverse(const Panels& panels, const ClusterInverseOptions& options)
    : ClusterInverse(upload(panels)->view(), options) {}
ClusterInverse::ClusterInverse(const DevicePanels& panels, const ClusterInverseOptions& options) {
  require_cuda_device();
  keep_freed_memory();
  impl_ = std::make_unique<Impl>(panels, options);
}
ClusterInverse::~ClusterInverse() = default;

void ClusterInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  const Stream stream;
  with_advice(false, [&] {
    on_copies(x, size(), y, size(), product.vectors, stream, nullptr,
              [&](const double* d_x, double* d_y, int vectors) {
                impl_->product.apply(d_x, d_y, vectors, stream);
              });
  });
}

void ClusterInverse::multiply_on_device(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  with_advice(false, [&] { impl_->product.apply(x, y, product.vectors, nullptr); });
}

void ClusterInverse::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }

std::int64_t ClusterInverse::memory_bytes() const { return impl_->product.bytes(); }
std::size_t ClusterInverse::size() const { return impl_->product.size(); }
std::size_t ClusterInverse::leaves() const { return impl_->product.leaves(); }
double ClusterInverse::mean_unknowns() const {
  return static_cast<double>(impl_->product.unknowns()) / static_cast<double>(leaves());
}

}  // namespace fmbem::cuda::bem
