#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"

namespace fmbem::cuda::bem {

/// fmbem::MixedInverse, its rows in half precision. The host finds trees, cuts and entries that are
/// not those of the smooth kernel; the current GPU fills and solves the small systems and applies
/// the rows. Throws what that class throws, InputError without a usable GPU, ResourceError for want
/// of its memory.
class MixedInverse final : public ApproximateInverse {
 public:
  MixedInverse(const Panels& panels, const MixedRows& rows,
               const MixedInverseOptions& options = {});
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
