#pragma once

#include <span>
#include <vector>

#include "fmbem/cuda/device_array.hpp"

namespace fmbem::test {

template <class T>
cuda::DeviceArray<T> on_device(const std::vector<T>& content) {
  return cuda::DeviceArray<T>(std::span<const T>(content));
}

template <class T>
std::vector<T> on_host(const cuda::DeviceArray<T>& array) {
  std::vector<T> content(array.size());
  array.download(content);
  return content;
}

}  // namespace fmbem::test
