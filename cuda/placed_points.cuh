#pragma once

#include <cstdint>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/cuda/strengths.cuh"

namespace fmbem::cuda {

/// Points of one kind on the device.
template <class N>
struct PlacedPoints {
  DeviceBuffer<std::int32_t> order;
  DeviceBuffer<N> x, y, z;
  DeviceBuffer<float> low_x, low_y, low_z;
  DeviceBuffer<double> exact_x, exact_y, exact_z;

  /// As many as the order has, which points that move keep.
  void make_room(cudaStream_t stream) {
    const auto n = static_cast<std::int64_t>(order.size());
    for (auto* axis : {&x, &y, &z}) grow(*axis, n, stream);
    if constexpr (sizeof(N) == 4) {
      for (auto* axis : {&low_x, &low_y, &low_z}) grow(*axis, n, stream);
      for (auto* axis : {&exact_x, &exact_y, &exact_z}) grow(*axis, n, stream);
    }
  }
  PointArrays<N> arrays() const {
    return {x.data(),     y.data(),       z.data(),       low_x.data(),  low_y.data(),
            low_z.data(), exact_x.data(), exact_y.data(), exact_z.data()};
  }
  PointsView<N> view() const {
    return {static_cast<std::int64_t>(order.size()),
            order.data(),
            x.data(),
            y.data(),
            z.data(),
            low_x.data(),
            low_y.data(),
            low_z.data(),
            exact_x.data(),
            exact_y.data(),
            exact_z.data()};
  }
  std::int64_t bytes() const {
    return order.bytes() + 3 * (x.bytes() + low_x.bytes() + exact_x.bytes());
  }
};

}  // namespace fmbem::cuda
