#include <cstdint>

#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/staging.cuh"
#include "fmbem/fmm/base/symmetric3.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::cuda {

template <class T>
struct DeviceArray<T>::Impl {
  DeviceBuffer<T> buffer;
};

template <class T>
DeviceArray<T>::DeviceArray(std::size_t size) : impl_(std::make_unique<Impl>()) {
  if (size == 0) return;
  require_cuda_device();
  keep_freed_memory();
  impl_->buffer = DeviceBuffer<T>(size, nullptr);
  FMBEM_CUDA(cudaStreamSynchronize(nullptr));
}

template <class T>
DeviceArray<T>::DeviceArray(std::span<const T> content) : DeviceArray(content.size()) {
  upload(content);
}

template <class T>
DeviceArray<T>::~DeviceArray() = default;
template <class T>
DeviceArray<T>::DeviceArray(DeviceArray&&) noexcept = default;
template <class T>
DeviceArray<T>& DeviceArray<T>::operator=(DeviceArray&&) noexcept = default;

template <class T>
std::size_t DeviceArray<T>::size() const {
  return impl_->buffer.size();
}

template <class T>
T* DeviceArray<T>::data() const {
  return impl_->buffer.data();
}

template <class T>
void DeviceArray<T>::upload(std::span<const T> from) {
  FMBEM_REQUIRE(from.size() == size(), "an array of " << size() << " entries on the device cannot "
                                                      << "take " << from.size());
  if (!from.empty()) copy_to_device(from.data(), from.size(), data(), nullptr);
}

template <class T>
void DeviceArray<T>::download(std::span<T> to) const {
  FMBEM_REQUIRE(to.size() == size(), "an array of " << size() << " entries on the device cannot "
                                                    << "be copied to " << to.size());
  impl_->buffer.download(to.data());
  FMBEM_CUDA(cudaStreamSynchronize(nullptr));
}

template class DeviceArray<double>;
template class DeviceArray<float>;
template class DeviceArray<std::int32_t>;
template class DeviceArray<Vec3d>;
template class DeviceArray<Vec3<float>>;
template class DeviceArray<Symmetric3d>;
template class DeviceArray<Symmetric3<float>>;

}  // namespace fmbem::cuda
