#pragma once

#include <span>

#include "fmbem/bem/layer/columns.hpp"
#include "fmbem/cuda/device_array.hpp"

namespace fmbem::cuda::bem {

/// Multiplies vectors in the GPU's memory, [vectors][panels], by the panels' areas, or divides
/// them, in its default stream.
class AreaScaling {
 public:
  /// Throws ResourceError where the areas do not fit.
  explicit AreaScaling(std::span<const double> area) : area_(area) {}
  /// x scaled, in a buffer that is valid until the next call.
  const double* multiplied(const double* x, int vectors);
  const double* divided(const double* x, int vectors);
  /// y = y scaled.
  void multiply(double* y, int vectors) const;
  void divide(double* y, int vectors) const;
  /// Vectors y, `length` each, by one area each: those of the panels [begin, end).
  void multiply_each(double* y, const Columns& panels, std::size_t length) const;
  void divide_each(double* y, const Columns& panels, std::size_t length) const;
  /// Until all of that is done.
  void wait() const;

 private:
  double* room(int vectors);

  DeviceArray<double> area_, room_;
};

}  // namespace fmbem::cuda::bem
