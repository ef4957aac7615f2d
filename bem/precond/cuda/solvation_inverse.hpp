#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/solvation_inverse.hpp"

namespace fmbem::cuda::bem {

/// make_solvation_inverse() on the current GPU: the same trees, cuts and systems, but for integrals
/// between panels that are farther apart than four radii, which are taken by a rule of three
/// points. Factorised in single precision, rows kept in half precision.
class SolvationInverse final : public ApproximateInverse {
 public:
  /// The panels need not outlive it. Throws InputError without a usable GPU and for systems that
  /// are singular, ResourceError for want of the GPU's memory.
  SolvationInverse(const Panels& panels, const RegionsOfPanels& regions);
  ~SolvationInverse() override;

  std::string name() const override { return "cluster inverse for potentials and fluxes"; }
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
