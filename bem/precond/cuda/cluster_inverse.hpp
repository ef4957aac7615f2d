#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"

namespace fmbem::cuda::bem {

/// fmbem::ClusterInverse, built and applied on the current GPU, with everything in its memory: the
/// same tree, cuts and systems, factorised in single precision by kernels of its own. Throws
/// InputError without a usable GPU, for options out of range and for a mesh whose systems are
/// singular, ResourceError for want of its memory.
class ClusterInverse final : public ApproximateInverse {
 public:
  /// The panels need not outlive it.
  explicit ClusterInverse(const Panels& panels, const ClusterInverseOptions& options = {});
  explicit ClusterInverse(const DevicePanels& panels, const ClusterInverseOptions& options = {});
  ~ClusterInverse() override;

  std::string name() const override { return "cluster inverse"; }
  Processor processor() const override { return Processor::gpu; }
  void wait() const override;
  /// In device memory.
  std::int64_t memory_bytes() const override;

  std::size_t size() const override;
  std::size_t leaves() const;
  double mean_unknowns() const;  ///< of the small systems

 protected:
  /// The same bits every time, on the same device.
  void multiply(const double* x, double* y, const Product& product) const override;
  void multiply_on_device(const double* x, double* y, const Product& product) const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::cuda::bem
