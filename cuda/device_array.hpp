#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace fmbem::cuda {

/// Numbers, vectors or symmetric matrices (double, float, std::int32_t, and Vec3 and Symmetric3 of
/// the first two) in the memory of the current GPU. Throws ResourceError with the bytes needed and
/// free where they do not fit, InputError without a usable GPU.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size = 0);
  explicit DeviceArray(std::span<const T> content);
  ~DeviceArray();
  DeviceArray(DeviceArray&&) noexcept;
  DeviceArray& operator=(DeviceArray&&) noexcept;

  std::size_t size() const;
  /// A device pointer, null if empty.
  T* data() const;
  /// Copies of the whole array, done when they return.
  void upload(std::span<const T> from);
  void download(std::span<T> to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::cuda
