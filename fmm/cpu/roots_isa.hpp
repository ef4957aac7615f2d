// Inverse distances of the near field in registers, for the files compiled once for each
// instruction set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/cpu/simd_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// Coordinates, a register of them.
template <class T>
using Coordinates = Vec<typename NearCoordinate<T>::Type>;

template <class T>
FMBEM_INLINE Vec<T> difference(Coordinates<T> a, typename NearCoordinate<T>::Type b) {
  return __builtin_convertvector(a - b, Vec<T>);
}

/// Potentials and gradients of a register of points.
template <class T>
struct PairSums {
  Vec<T> potential{}, x{}, y{}, z{};
};

/// Pairs of at most this distance, squared, are left out.
template <class T>
constexpr T least_r2 = sizeof(T) == 4 ? T(close_distance) * T(close_distance) : T(0);

typedef std::int32_t Counts __attribute__((vector_size(register_bytes)));

/// Keeps record of pairs that are too close: counts them lane by lane or, for `Any`, only whether
/// there was one.
struct Count {
  Counts far{};
};
struct Any {
#if defined(__AVX512F__)
  unsigned close = 0;
  bool found() const { return close != 0; }
#else
  Counts close{};
  bool found() const {
    std::int32_t any = 0;
    for (unsigned l = 0; l < register_bytes / sizeof(std::int32_t); ++l) any |= close[l];
    return any != 0;
  }
#endif
};
/// In double precision nothing is counted.
struct None {
  bool found() const { return false; }
};

template <class T>
using PairsOf = std::conditional_t<sizeof(T) == 4, Any, None>;

/// A first guess of 1/√s2, s2 being r2 or what softening makes of it; 0 for pairs that are left
/// out.
#if defined(__AVX512F__)
FMBEM_INLINE Vec<double> guess(Vec<double> r2, Vec<double> s2, None&) {
  return _mm512_maskz_rsqrt14_pd(_mm512_cmp_pd_mask(r2, _mm512_setzero_pd(), _CMP_GT_OQ), s2);
}
FMBEM_INLINE Vec<float> guess(Vec<float> r2, Vec<float> s2, Count& count) {
  const __mmask16 far = _mm512_cmp_ps_mask(r2, _mm512_set1_ps(least_r2<float>), _CMP_GT_OQ);
  const __m512i counts = reinterpret_cast<__m512i>(count.far);
  count.far =
      reinterpret_cast<Counts>(_mm512_mask_add_epi32(counts, far, counts, _mm512_set1_epi32(1)));
  return _mm512_maskz_rsqrt14_ps(far, s2);
}
FMBEM_INLINE Vec<float> guess(Vec<float> r2, Vec<float> s2, Any& any) {
  any.close |= _mm512_cmp_ps_mask(r2, _mm512_set1_ps(least_r2<float>), _CMP_LE_OQ);
  return _mm512_maskz_rsqrt14_ps(0xffff, s2);  // GCC 12 warns of the form without a mask
}
constexpr bool guess_is_coarse = false;
#else
/// By the exponent's bits (Lomont 2003), 3.5 % off.
FMBEM_INLINE Vec<double> guess(Vec<double> r2, Vec<double> s2, None&) {
  typedef std::int64_t Bits __attribute__((vector_size(register_bytes)));
  const Bits bits = 0x5fe6eb50c7b537a9 - (reinterpret_cast<Bits>(s2) >> 1);
  return reinterpret_cast<Vec<double> >(bits & reinterpret_cast<Bits>(r2 > least_r2<double>));
}
FMBEM_INLINE Vec<float> bits_of_root(Vec<float> s2) {
  return reinterpret_cast<Vec<float> >(0x5f375a86 - (reinterpret_cast<Counts>(s2) >> 1));
}
FMBEM_INLINE Vec<float> guess(Vec<float> r2, Vec<float> s2, Count& count) {
  const Counts far = r2 > least_r2<float>;  // −1 where true
  count.far -= far;
  return reinterpret_cast<Vec<float> >(reinterpret_cast<Counts>(bits_of_root(s2)) & far);
}
FMBEM_INLINE Vec<float> guess(Vec<float> r2, Vec<float> s2, Any& any) {
  any.close |= r2 <= least_r2<float>;
  return bits_of_root(s2);
}
constexpr bool guess_is_coarse = true;
#endif

/// inverse_root() gives 1/√r2 times this constant, so that the series has no factor to multiply by.
template <class T, int Terms>
constexpr T root_scale = Terms == 0   ? T(1)
                         : Terms == 1 ? T(2)
                         : Terms == 2 ? T(8) / 3
                                      : T(3.2);

/// The terms of the series of (1 − e)^(−1/2), e = 1 − r2 y², after the first, in root_scale. A
/// guess with the relative error ε comes out with about ε^(Terms + 1).
template <class T, int Terms>
FMBEM_INLINE Vec<T> refine(Vec<T> r2, Vec<T> y) {
  if constexpr (Terms == 0) return y;
  if constexpr (Terms == 1) return y * (T(3) - r2 * (y * y));
  const Vec<T> e = T(1) - r2 * (y * y);
  if constexpr (Terms == 2) return y * (root_scale<T, 2> + e * (T(4) / 3 + e));
  return y * (root_scale<T, 3> + e * (T(1.6) + e * (T(1.2) + e)));
}

/// root_scale / √r2, r2 being softened as the kernel is.
template <class T, int Terms, class Kernel, class Far>
FMBEM_INLINE Vec<T> inverse_root(const Kernel& kernel, Vec<T> r2, Far& far) {
  const Vec<T> s2 = kernel.softened(r2);
  Vec<T> y = guess(r2, s2, far);
  if constexpr (guess_is_coarse) {
    const Vec<T> e = T(1) - s2 * (y * y);
    y *= T(1) + e * (T(0.5) + e * (T(0.375) + T(0.3125) * e));
  }
  return refine<T, Terms>(s2, y);
}

/// Calls f with the terms of `root_terms` (see CpuKernels) as a compile-time constant. The bits'
/// guess is too coarse without a series, and in single precision two terms gain nothing.
template <class T, class Call>
FMBEM_INLINE void with_terms(int root_terms, Call&& call) {
  if constexpr (sizeof(T) == 4) {
    if constexpr (!guess_is_coarse)
      if (root_terms == 0) return call(std::integral_constant<int, 0>());
    call(std::integral_constant<int, 1>());
  } else {
    if (root_terms <= 1)
      call(std::integral_constant<int, 1>());
    else if (root_terms == 2)
      call(std::integral_constant<int, 2>());
    else
      call(std::integral_constant<int, 3>());
  }
}

}  // namespace
}  // namespace fmbem::fmm::FMBEM_ISA
