#pragma once

#include "fmbem/fmm/kernel/laplace.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

/// Calls a macro with the type of each kernel, to instantiate the templates that are compiled apart
/// from their callers.
#define FMBEM_FOR_EACH_KERNEL(call) call(Laplace) call(Yukawa)

namespace fmbem::fmm {

/// body(kernel): Laplace's where κ is 0, else Yukawa's.
template <class Body>
decltype(auto) with_kernel(double kappa, Body&& body) {
  return kappa == 0 ? body(Laplace()) : body(Yukawa{kappa});
}

}  // namespace fmbem::fmm
