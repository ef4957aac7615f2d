#pragma once

#include <vector>

#include "fmbem/fmm/cpu/kernels_isa.hpp"

namespace fmbem::test {

/// The hot loops of one instruction set.
template <class T, class Kernel>
struct InstructionSet {
  const fmm::CpuKernels<T>& kernels;
  const fmm::PairKernels<T, Kernel>& pairs;
};

/// Those of all instruction sets that this processor has, the best one last.
template <class T, class Kernel = fmm::Laplace>
std::vector<InstructionSet<T, Kernel>> all_kernels() {
  using namespace fmm;
  std::vector<InstructionSet<T, Kernel>> result;
  result.push_back({baseline::cpu_kernels<T>(), baseline::pair_kernels<T, Kernel>()});
#ifdef FMBEM_X86_64_V3
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    result.push_back({x86_64_v3::cpu_kernels<T>(), x86_64_v3::pair_kernels<T, Kernel>()});
#endif
#ifdef FMBEM_X86_64_V4
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    result.push_back({x86_64_v4::cpu_kernels<T>(), x86_64_v4::pair_kernels<T, Kernel>()});
#endif
  return result;
}

}  // namespace fmbem::test
