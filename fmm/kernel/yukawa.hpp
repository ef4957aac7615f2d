#pragma once

#include <cmath>
#include <compare>
#include <limits>
#include <type_traits>

#include "fmbem/fmm/kernel/exponential.hpp"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::fmm {

/// G(x, y) = exp(−κ|x − y|)/(4π|x − y|); κ → 0 gives Laplace.
struct Yukawa {
  double kappa;  ///< 1/length, in the unit of the coordinates

  auto operator<=>(const Yukawa&) const = default;

  static constexpr double scale = Laplace::scale;
  static constexpr bool homogeneous = false;

  template <class V>
  struct Radial {
    V g, w, z;  ///< w = 1/r, z = κr
    FMBEM_HD FMBEM_INLINE V a() const { return (1 + z) * (w * w); }
    FMBEM_HD FMBEM_INLINE V b() const { return (3 + z * (3 + z)) / ((1 + z) * (1 + z)); }
    FMBEM_HD FMBEM_INLINE V c() const {
      return (15 + z * (15 + z * (6 + z))) / ((1 + z) * (3 + z * (3 + z)));
    }
  };
  template <class V>
  FMBEM_HD FMBEM_INLINE V softened(V r2) const {
    return r2;
  }
  template <int RootTerms = 3, class V>
  FMBEM_HD FMBEM_INLINE Radial<V> radial(V r2, V w) const {
    const V z = in<V>(kappa) * (r2 * w);
    return {exponential<RootTerms>(-z) * w, w, z};
  }

  /// Writes f_n(κ|x|) for n ≤ p + 1, f_n(z) = (2n+1)!! i_n(z)/zⁿ with the modified spherical Bessel
  /// functions i_n: regular functions are S_i f_n (harmonics.hpp), and f_n(0) = 1. By the
  /// recurrence f_{n−1} = f_n + z² f_{n+1}/((2n+1)(2n+3)) downwards, all of whose terms are
  /// positive.
  template <class V>
  FMBEM_HD FMBEM_INLINE void regular_factors(V r2, int p, V* f) const {
    const V z2 = in<V>(kappa * kappa) * r2;
    for (int n = p; n <= p + 1; ++n)
      f[n] = by_numbers(z2, [n](double x) {
        double sum = 1, term = 1;  // Σ_k (z²/2)^k / (k! (2n+3)(2n+5) … (2n+2k+1))
        for (int k = 1; term > 0.1 * std::numeric_limits<double>::epsilon() * sum; ++k)
          sum += term *= 0.5 * x / (k * (2.0 * (n + k) + 1));
        return sum;
      });
    for (int n = p; n > 0; --n)
      f[n - 1] = f[n] + in<V>(1.0 / ((2 * n + 1) * (2 * n + 3))) * (z2 * f[n + 1]);
  }

 private:
  /// Applies a function to each number of V.
  template <class V, class F>
  FMBEM_HD FMBEM_INLINE static V by_numbers(V v, F f) {
    if constexpr (std::is_arithmetic_v<V>)
      return static_cast<V>(f(v));
    else
      for (unsigned l = 0; l < sizeof(V) / sizeof(v[0]); ++l) v[l] = in<V>(f(v[l]));
    return v;
  }
};

}  // namespace fmbem::fmm
