#pragma once

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {

/// Pairs (n, m) with m ≥ 0 of the highest order.
inline constexpr int most_pairs = (highest_order + 1) * (highest_order + 2) / 2;

// The same functions for each instruction set: x86-64 level 4 (AVX-512), level 3 (AVX2), and what
// every processor of the compiler's target has. Callers use the tables; the functions are declared
// here for the files that fill the tables.
#define FMBEM_DECLARE_KERNELS(isa)                                                                 \
  namespace isa {                                                                                  \
  template <class T>                                                                               \
  const CpuKernels<T>& cpu_kernels();                                                              \
  template <class T, class Kernel>                                                                 \
  const PairKernels<T, Kernel>& pair_kernels();                                                    \
  template <class T, class Kernel>                                                                 \
  void near(Kernel kernel, int vectors, int root_terms, const NearSources<T>& s,                   \
            const NearTargets<T>& t);                                                              \
  template <class T, class Kernel>                                                                 \
  bool near_mutual(Kernel kernel, int root_terms, const NearPoints<T>& a, const NearPoints<T>& b); \
  template <class Kernel>                                                                          \
  void near_hessian(Kernel kernel, const NearSources<double>& s, const HessianTargets& t);         \
  template <class T, class Kernel>                                                                 \
  void m2p(Kernel kernel, HarmonicSteps<T> steps, const M2pSource<T>& source,                      \
           const M2pTargets<T>& targets);                                                          \
  template <class T>                                                                               \
  void m2p_cartesian(int order, const M2pSource<T>& source, const M2pTargets<T>& targets);         \
  template <class T>                                                                               \
  void gather(const NearRange* pieces, int n, const NearArrays<const T>& from,                     \
              const NearArrays<T>& to);                                                            \
  template <class T>                                                                               \
  void scatter(const NearRange* pieces, int n, const T* sums, double factor, double* results,      \
               double* buffer);                                                                    \
  }
FMBEM_DECLARE_KERNELS(x86_64_v4)
FMBEM_DECLARE_KERNELS(x86_64_v3)
FMBEM_DECLARE_KERNELS(baseline)
#undef FMBEM_DECLARE_KERNELS

}  // namespace fmbem::fmm
