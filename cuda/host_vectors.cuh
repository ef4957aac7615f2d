#pragma once

#include <algorithm>

#include "fmbem/cuda/stage_times.cuh"
#include "fmbem/cuda/staging.cuh"

namespace fmbem::cuda {

/// Vectors of the host that are on the device at a time.
inline constexpr int most_copied_vectors = 8;

/// A product with vectors of the host, x [n_vectors][columns] and y [n_vectors][rows]: copies some
/// of them to the device, calls multiply(x, y, vectors) in the order of the stream, and waits for
/// the results. Unless times is null the copies count as the stage "copy".
template <class Multiply>
void on_copies(const double* x, std::size_t columns, double* y, std::size_t rows, int n_vectors,
               const Stream& stream, StageTimes* times, Multiply&& multiply) {
  const int together = std::min(n_vectors, most_copied_vectors);
  const auto copied = [&] {
    if (times) times->record("copy");
  };
  for (int first = 0; first < n_vectors; first += together) {
    const int vectors = std::min(together, n_vectors - first);
    DeviceBuffer<double> d_x(columns * vectors, stream), d_y(rows * vectors, stream);
    copy_to_device(x + first * columns, d_x.size(), d_x.data(), stream);
    copied();
    multiply(d_x.data(), d_y.data(), vectors);
    copy_to_host(d_y.data(), d_y.size(), y + first * rows, stream);
    copied();
  }
  stream.wait();
}

}  // namespace fmbem::cuda
