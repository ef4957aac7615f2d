#include "fmbem/fmm/cpu/kernels.hpp"

#include <algorithm>

#include "fmbem/fmm/cpu/kernels_isa.hpp"

namespace fmbem::fmm {
namespace {

enum class Isa { x86_64_v4, x86_64_v3, baseline };

Isa find_best_isa() {
#ifdef FMBEM_X86_64_V4
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    return Isa::x86_64_v4;
#endif
#ifdef FMBEM_X86_64_V3
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::x86_64_v3;
#endif
  return Isa::baseline;
}

[[maybe_unused]] Isa best_isa() {
  static const Isa isa = find_best_isa();
  return isa;
}

}  // namespace

#ifdef FMBEM_X86_64_V4
#define FMBEM_OF_V4(...) best_isa() == Isa::x86_64_v4 ? x86_64_v4::__VA_ARGS__:
#else
#define FMBEM_OF_V4(...)
#endif
#ifdef FMBEM_X86_64_V3
#define FMBEM_OF_V3(...) best_isa() == Isa::x86_64_v3 ? x86_64_v3::__VA_ARGS__:
#else
#define FMBEM_OF_V3(...)
#endif
#define FMBEM_OF_BEST_ISA(...) \
  (FMBEM_OF_V4(__VA_ARGS__) FMBEM_OF_V3(__VA_ARGS__) baseline::__VA_ARGS__)
template <class T>
const CpuKernels<T>& cpu_kernels() {
  return FMBEM_OF_BEST_ISA(cpu_kernels<T>());
}
template <class T, class Kernel>
const PairKernels<T, Kernel>& pair_kernels() {
  return FMBEM_OF_BEST_ISA(pair_kernels<T, Kernel>());
}
#undef FMBEM_OF_BEST_ISA
#undef FMBEM_OF_V3
#undef FMBEM_OF_V4

template <class T>
std::int64_t packed_size(const CpuKernels<T>& kernels, int columns, int depth) {
  return static_cast<std::int64_t>(whole_registers(kernels, columns)) * depth;
}

template <class T>
void pack_panels(const CpuKernels<T>& kernels, int columns, int depth, const double* b,
                 std::int64_t depth_stride, std::int64_t column_stride, T* packed) {
  const int padded = whole_registers(kernels, columns), panel = 3 * kernels.lanes;
  for (int first = 0; first < padded; first += panel) {
    const int width = std::min(panel, padded - first);
    for (int k = 0; k < depth; ++k)
      for (int j = first; j < first + width; ++j)
        *packed++ = j < columns ? static_cast<T>(b[k * depth_stride + j * column_stride]) : T(0);
  }
}

#define FMBEM_INSTANTIATE(T)                                                             \
  template const CpuKernels<T>& cpu_kernels<T>();                                        \
  template std::int64_t packed_size(const CpuKernels<T>&, int, int);                     \
  template void pack_panels(const CpuKernels<T>&, int, int, const double*, std::int64_t, \
                            std::int64_t, T*);
FMBEM_INSTANTIATE(double)
FMBEM_INSTANTIATE(float)
#undef FMBEM_INSTANTIATE

#define FMBEM_INSTANTIATE(Kernel)                             \
  template const PairKernels<double, Kernel>& pair_kernels(); \
  template const PairKernels<float, Kernel>& pair_kernels();
FMBEM_FOR_EACH_PAIR_KERNEL(FMBEM_INSTANTIATE)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::fmm
