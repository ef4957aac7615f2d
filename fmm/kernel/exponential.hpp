#pragma once

#include <cmath>
#include <numbers>
#include <type_traits>

#include "fmbem/fmm/base/hd.hpp"

#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace fmbem::fmm {

/// The degree of the polynomial of PowersOfTwo that is as accurate as 1/r with so many terms
/// (CpuKernels): 3e-6 and the last bits in single precision; 2e-9, 8e-13 and the last bits in
/// double precision.
template <class T>
constexpr int exponential_degree(int root_terms) {
  if (sizeof(T) == 4) return root_terms == 0 ? 4 : 5;
  return root_terms <= 1 ? 6 : root_terms == 2 ? 8 : 11;
}

/// A polynomial for 2^f, |f| ≤ 1/2, Σ_n coefficient[n] f^n: the first terms of its Chebyshev series
///
///     2^f = I_0(a) + 2 Σ_n I_n(a) T_n(2f),   a = ln(2)/2,
///
/// whose error is that of the best polynomial but for some percent, 2 (a/2)^(d+1)/(d+1)!. Source of
/// the series: Abramowitz and Stegun, 9.6.34.
template <class T, int degree>
struct PowersOfTwo {
  T coefficient[degree + 1]{};
  constexpr PowersOfTwo() {
    double sum[degree + 1]{}, low[degree + 1]{}, here[degree + 1]{1};  // T_{n−1} and T_n of 2f
    for (int n = 0; n <= degree; ++n) {
      const double of_all = n == 0 ? 1 : 2;
      double next[degree + 1]{};  // T_{n+1} = 4 f T_n − T_{n−1}, T_1 = 2f
      for (int k = 0; k <= degree; ++k) {
        sum[k] += of_all * bessel(n) * here[k];
        next[k] = (k > 0 ? 2 * of_all * here[k - 1] : 0) - low[k];
      }
      for (int k = 0; k <= degree; ++k) {
        low[k] = here[k];
        here[k] = next[k];
      }
    }
    for (int k = 0; k <= degree; ++k) coefficient[k] = static_cast<T>(sum[k]);
  }

 private:
  /// I_n(a) by its series.
  static constexpr double bessel(int n) {
    constexpr double half = 0.25 * std::numbers::ln2;
    double term = 1, sum = 0;
    for (int k = 1; k <= n; ++k) term *= half / k;
    for (int k = 1; k < 12; ++k) {
      sum += term;
      term *= half * half / (k * (k + n));
    }
    return sum;
  }
};

/// Register x times 2^k, |x| being about 1; 0 where that would underflow. k: whole numbers, and
/// `shifted` the same plus a `rounder`, so that they stand in its lowest bits.
template <class V>
FMBEM_INLINE V times_power_of_two(V x, V k, V shifted) {
  using T = std::remove_cvref_t<decltype(x[0])>;
  constexpr T least = sizeof(T) == 8 ? -1021 : -125;  // the product is a normal number
#if defined(__AVX512F__) && !defined(__CUDACC__)
  if constexpr (sizeof(V) == 64 && sizeof(T) == 4)
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(k, _mm512_set1_ps(least), _CMP_GE_OQ), x, k);
  else if constexpr (sizeof(V) == 64)
    return _mm512_maskz_scalef_pd(_mm512_cmp_pd_mask(k, _mm512_set1_pd(least), _CMP_GE_OQ), x, k);
#endif
  using Bits = decltype(x < k);  // integers as wide as T
  constexpr int mantissa = sizeof(T) == 8 ? 52 : 23;
  const Bits bits = reinterpret_cast<Bits>(x) + (reinterpret_cast<Bits>(shifted) << mantissa);
  return k >= V{} + least ? reinterpret_cast<V>(bits) : V{};
}

/// e^{−rate r} of a number, or of each number of a register, for rate r ≥ 0: as accurate as
/// exponential_degree() says, but for the rounding of the exponent; in registers 0 where it would
/// underflow. e^x = 2^k 2^f with k = round(x/ln 2).
template <int RootTerms = 3, class V>
FMBEM_HD FMBEM_INLINE V decay(double rate, V r) {
  if constexpr (std::is_arithmetic_v<V>) {
    return std::exp(-static_cast<V>(rate) * r);
  } else {
    using T = std::remove_cvref_t<decltype(r[0])>;
    constexpr bool is_double = sizeof(T) == 8;
    constexpr int degree = exponential_degree<T>(RootTerms);
    // Added to a number it leaves the nearest integer in the lowest bits.
    constexpr T rounder = is_double ? T(0x1.8p52) : T(0x1.8p23);
    constexpr PowersOfTwo<T, degree> powers;
    const T binary_rate = static_cast<T>(-std::numbers::log2e * rate);
    const V shifted = binary_rate * r + rounder, k = shifted - rounder;
    const V f = binary_rate * r - k;
    V power = V{} + powers.coefficient[degree];
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)  // the others need no hint
#pragma GCC unroll 16
#endif
    for (int n = degree - 1; n >= 0; --n) power = powers.coefficient[n] + power * f;
    return times_power_of_two(power, k, shifted);
  }
}

}  // namespace fmbem::fmm
