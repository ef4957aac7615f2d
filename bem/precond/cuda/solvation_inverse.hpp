#pragma once

#include "fmbem/bem/precond/cuda/device_inverse.hpp"
#include "fmbem/bem/precond/solvation_inverse.hpp"

namespace fmbem::cuda::bem {

/// make_solvation_inverse() on the current GPU: the same trees, cuts and systems, but for integrals
/// between panels that are farther apart than four radii, which are taken by a rule of three
/// points. All is in single precision, and rows are kept in half precision.
class SolvationInverse final : public DeviceInverse {
 public:
  /// The panels need not outlive it. Throws InputError without a usable GPU and for systems that
  /// are singular, ResourceError for want of the GPU's memory.
  SolvationInverse(const Panels& panels, const RegionsOfPanels& regions);
};

}  // namespace fmbem::cuda::bem
