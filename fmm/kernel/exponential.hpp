#pragma once

#include <cmath>
#include <type_traits>

#include "fmbem/fmm/base/hd.hpp"

namespace fmbem::fmm {

/// The degree of Taylor's series of e^r, |r| ≤ ln(2)/2, that is as accurate as 1/r with so many
/// terms (CpuKernels): 2e-6, 2e-10, 2e-13 and the last bits in double precision.
template <class T>
constexpr int exponential_degree(int root_terms) {
  if (sizeof(T) == 4) return root_terms == 0 ? 5 : 7;
  return root_terms <= 1 ? 8 : root_terms == 2 ? 10 : 13;
}

/// 1/n!
template <class T>
struct InverseFactorials {
  T value[14]{};
  constexpr InverseFactorials() {
    double factorial = 1;
    for (int n = 0; n < 14; ++n) {
      value[n] = T(1 / factorial);
      factorial *= n + 1;
    }
  }
};

/// e^x of a number, or of each number of a register, for x ≤ 0: 0 where it would underflow, else to
/// two units in the last place, or as exponential_degree() says. e^x = 2^k e^r, k = round(x/ln 2),
/// and Taylor's series of e^r.
template <int RootTerms = 3, class V>
FMBEM_HD FMBEM_INLINE V exponential(V x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return std::exp(x);
  } else {
    using T = std::remove_cvref_t<decltype(x[0])>;
    using Bits = decltype(x < V{});  // integers as wide as T
    constexpr bool is_double = sizeof(T) == 8;
    constexpr int mantissa = is_double ? 52 : 23, bias = is_double ? 1023 : 127,
                  degree = exponential_degree<T>(RootTerms);
    constexpr T least = is_double ? T(-708) : T(-87);  // 2^k is a normal number from there on
    // Added to a number it leaves the nearest integer in the lowest bits.
    constexpr T rounder = is_double ? T(0x1.8p52) : T(0x1.8p23);
    // ln 2 in two parts, so that k times the first one is exact.
    constexpr T ln2_high = is_double ? T(0x1.62e42feep-1) : T(0x1.62e4p-1),
                ln2_low = is_double ? T(0x1.a39ef35793c76p-33) : T(0x1.7f7d1cp-20);
    const Bits in_range = x > least;
    const V bounded = in_range ? x : V{} + least;
    const V shifted = bounded * T(1.4426950408889634) + rounder;
    const V k = shifted - rounder;
    const V r = (bounded - k * ln2_high) - k * ln2_low;
    constexpr InverseFactorials<T> over;
    V series = V{} + over.value[degree];
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)  // the others need no hint
#pragma GCC unroll 16
#endif
    for (int n = degree - 1; n >= 0; --n) series = over.value[n] + series * r;
    const V none = V{} + rounder;
    const Bits power = (reinterpret_cast<Bits>(shifted) - reinterpret_cast<Bits>(none) + bias)
                       << mantissa;
    return in_range ? series * reinterpret_cast<V>(power) : V{};
  }
}

}  // namespace fmbem::fmm
