#pragma once

#include "fmbem/fmm/kernel/laplace.hpp"
#include "fmbem/fmm/kernel/plummer.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

/// Calls a macro with the type of each kernel, to instantiate the templates that are compiled apart
/// from their callers.
#define FMBEM_FOR_EACH_KERNEL(call) call(Laplace) call(Yukawa)
/// The same with the kernels that direct sums alone have.
#define FMBEM_FOR_EACH_PAIR_KERNEL(call) FMBEM_FOR_EACH_KERNEL(call) call(Plummer)

namespace fmbem::fmm {

/// body(kernel): Laplace's where κ is 0, else Yukawa's.
template <class Body>
decltype(auto) with_kernel(double kappa, Body&& body) {
  return kappa == 0 ? body(Laplace()) : body(Yukawa{kappa});
}

/// body(kernel) of pairs: Plummer's where there is a softening, which excludes κ.
template <class Body>
decltype(auto) with_pair_kernel(double kappa, double softening, Body&& body) {
  return softening == 0 ? with_kernel(kappa, body) : body(Plummer{softening});
}

}  // namespace fmbem::fmm
