#include <utility>

#include "fmbem/bem/geometry/cuda/memory_advice.cuh"
#include "fmbem/bem/precond/cuda/device_inverse.cuh"
#include "fmbem/cuda/host_vectors.cuh"

namespace fmbem::cuda::bem {

DeviceInverse::DeviceInverse(std::string name) : name_(std::move(name)) {}
/// Products in the default stream may still need what is freed.
DeviceInverse::~DeviceInverse() { cudaStreamSynchronize(nullptr); }
void DeviceInverse::set(std::unique_ptr<const Impl> impl) { impl_ = std::move(impl); }

void DeviceInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  const Stream stream;
  with_advice(false, [&] {
    on_copies(x, size(), y, size(), product.vectors, stream, nullptr,
              [&](const double* d_x, double* d_y, int vectors) {
                impl_->apply(d_x, d_y, vectors, stream);
              });
  });
}

void DeviceInverse::multiply_on_device(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  with_advice(false, [&] { impl_->apply(x, y, product.vectors, nullptr); });
}

void DeviceInverse::wait() const { FMBEM_CUDA(cudaStreamSynchronize(nullptr)); }
std::int64_t DeviceInverse::memory_bytes() const { return impl_->bytes(); }
std::size_t DeviceInverse::size() const { return static_cast<std::size_t>(impl_->size()); }

}  // namespace fmbem::cuda::bem
