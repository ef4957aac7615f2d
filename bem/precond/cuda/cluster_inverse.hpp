#pragma once

#include <cstddef>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/cuda/device_inverse.hpp"

namespace fmbem::cuda::bem {

/// fmbem::ClusterInverse, built and applied on the current GPU, with everything in its memory: the
/// same tree, cuts and systems, factorised in single precision by kernels of its own. Throws
/// InputError without a usable GPU, for options out of range and for a mesh whose systems are
/// singular, ResourceError for want of its memory.
class ClusterInverse final : public DeviceInverse {
 public:
  /// The panels need not outlive it.
  explicit ClusterInverse(const Panels& panels, const ClusterInverseOptions& options = {});
  explicit ClusterInverse(const DevicePanels& panels, const ClusterInverseOptions& options = {});

  std::size_t leaves() const { return leaves_; }
  double mean_unknowns() const { return mean_unknowns_; }  ///< of the small systems

 private:
  std::size_t leaves_ = 0;
  double mean_unknowns_ = 0;
};

}  // namespace fmbem::cuda::bem
