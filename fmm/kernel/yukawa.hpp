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
  /// κ/s makes κr right where w is s/r, and g and its derivatives in r come with s, s³, s⁵, … .
  Yukawa for_root_scale(double s) const { return {kappa / s}; }
  template <int RootTerms = 3, class V>
  FMBEM_HD FMBEM_INLINE Radial<V> radial(V r2, V w) const {
    const V r = r2 * w;
    return {decay<RootTerms>(kappa, r) * w, w, in<V>(kappa) * r};
  }

  /// Writes f_n(κ|x|) of N places to f[n N …], n ≤ p + 1, from their |x|². With the modified
  /// spherical Bessel functions i_n, f_n(z) = (2n+1)!! i_n(z)/zⁿ: regular functions are S_i f_n
  /// (harmonics.hpp), and f_n(0) = 1. By the recurrence
  /// f_{n−1} = f_n + z² f_{n+1}/((2n+1)(2n+3)) downwards, all of whose terms are positive, from
  /// f_n = Σ_k (z²/2)^k / (k! (2n+3)(2n+5) … (2n+2k+1)).
  template <int N = 1, class V>
  FMBEM_HD FMBEM_INLINE void regular_factors(const V* r2, int p, V* f) const {
    V z2[N];
    for (int v = 0; v < N; ++v) z2[v] = in<V>(kappa * kappa) * r2[v];
    const double largest = largest_of<N>(z2);
    for (int n = p; n <= p + 1; ++n) {
      const auto ratio = [n](int k) { return 0.5 / (k * (2.0 * (n + k) + 1)); };
      int terms = 0;  // as many as the largest z takes
      double sum = 1, term = 1;
      while (term > 0.1 * epsilon_of<V>() * sum) sum += term *= largest * ratio(++terms);
      for (int v = 0; v < N; ++v) f[n * N + v] = V{} + in<V>(1);
      for (int k = terms; k > 0; --k)
        for (int v = 0; v < N; ++v)
          f[n * N + v] = in<V>(1) + in<V>(ratio(k)) * (z2[v] * f[n * N + v]);
    }
    for (int n = p; n > 0; --n) {
      const auto factor = in<V>(1.0 / ((2 * n + 1) * (2 * n + 3)));
      for (int v = 0; v < N; ++v)
        f[(n - 1) * N + v] = f[n * N + v] + factor * (z2[v] * f[(n + 1) * N + v]);
    }
  }

 private:
  template <class V>
  FMBEM_HD static constexpr double epsilon_of() {
    return std::numeric_limits<decltype(in<V>(0))>::epsilon();
  }
  /// The largest of the numbers of all V.
  template <int N, class V>
  FMBEM_HD FMBEM_INLINE static double largest_of(const V* v) {
    V most = v[0];
    for (int k = 1; k < N; ++k) most = v[k] > most ? v[k] : most;
    if constexpr (std::is_arithmetic_v<V>) {
      return most;
    } else {
      auto largest = most[0];
      for (unsigned l = 1; l < sizeof(V) / sizeof(most[0]); ++l)
        largest = most[l] > largest ? most[l] : largest;
      return largest;
    }
  }
};

}  // namespace fmbem::fmm
