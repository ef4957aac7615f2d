#pragma once

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <limits>
#include <string>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda {

/// Runs a function of CUB, which is called once for the size of its temporary storage and once for
/// its work: function(storage, bytes).
template <class Function>
void with_storage(cudaStream_t stream, Function&& function) {
  std::size_t bytes = 0;
  FMBEM_CUDA(function(nullptr, bytes));
  DeviceBuffer<unsigned char> storage(bytes > 0 ? bytes : 1, stream);
  FMBEM_CUDA(function(storage.data(), bytes));
}

/// It takes lengths in 32 bits.
inline int length_for_cub(std::int64_t n) {
  if (n > std::numeric_limits<int>::max())
    throw ResourceError("a sort or sum of " + std::to_string(n) +
                        " numbers is more than the GPU's part of fmbem can do at once: take fewer "
                        "panels or points, or the CPU");
  return static_cast<int>(n);
}

template <class T>
struct Plus {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <class In, class Out>
void exclusive_sum(const In* in, Out* out, std::int64_t n, cudaStream_t stream) {
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, Plus<Out>(), Out{},
                                          length_for_cub(n), stream);
  });
}

template <class Key, class Value>
void sort_pairs(const Key* keys, Key* sorted_keys, const Value* values, Value* sorted_values,
                std::int64_t n, int bits, cudaStream_t stream) {
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, keys, sorted_keys, values, sorted_values,
                                           length_for_cub(n), 0, bits, stream);
  });
}

template <class Key>
void sort_keys(const Key* keys, Key* sorted, std::int64_t n, int bits, cudaStream_t stream) {
  with_storage(stream, [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, keys, sorted, length_for_cub(n), 0, bits,
                                          stream);
  });
}

}  // namespace fmbem::cuda
