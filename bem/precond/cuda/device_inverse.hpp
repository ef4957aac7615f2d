#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem::cuda::bem {

/// An approximate inverse whose rows are in the memory of the GPU that was current when it was
/// made, and are applied there. The same bits every time, on the same device.
class DeviceInverse : public ApproximateInverse {
 public:
  struct Impl;  ///< device_inverse.cuh
  ~DeviceInverse() override;

  std::string name() const override { return name_; }
  Processor processor() const override { return Processor::gpu; }
  void wait() const override;
  /// In device memory.
  std::int64_t memory_bytes() const override;
  std::size_t size() const override;

 protected:
  explicit DeviceInverse(std::string name);
  void set(std::unique_ptr<const Impl> impl);

  void multiply(const double* x, double* y, const Product& product) const override;
  void multiply_on_device(const double* x, double* y, const Product& product) const override;

 private:
  std::string name_;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace fmbem::cuda::bem
