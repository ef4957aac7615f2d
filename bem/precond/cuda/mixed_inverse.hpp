#pragma once

#include "fmbem/bem/precond/cuda/device_inverse.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"

namespace fmbem::cuda::bem {

/// fmbem::MixedInverse, its rows in half precision. The host says in which order trees take panels;
/// the current GPU makes trees, cuts and close entries, fills and solves the small systems and
/// applies the rows. Throws what that class throws, InputError without a usable GPU, ResourceError
/// for want of its memory.
class MixedInverse final : public DeviceInverse {
 public:
  MixedInverse(const Panels& panels, const MixedRows& rows,
               const MixedInverseOptions& options = {});
};

}  // namespace fmbem::cuda::bem
