#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"

namespace fmbem::cuda::bem {

/// fmbem::MixedInverse, built by the host and applied on the current GPU, its rows in half
/// precision. Throws InputError without a usable GPU, ResourceError for want of its memory.
class MixedInverse final : public ApproximateInverse {
 public:
  explicit MixedInverse(const fmbem::MixedInverse& built);
  ~MixedInverse() override;

  std::string name() const override { return "cluster inverse for mixed rows"; }
  Processor processor() const override { return Processor::gpu; }
  void wait() const override;
  /// In device memory.
  std::int64_t memory_bytes() const override;
  std::size_t size() const override;

 protected:
  /// The same bits every time, on the same device.
  void multiply(const double* x, double* y, const Product& product) const override;
  void multiply_on_device(const double* x, double* y, const Product& product) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::cuda::bem
