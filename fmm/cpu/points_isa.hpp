// Harmonics at registers of points, for the files compiled once for each instruction set.
#pragma once

#include <type_traits>

#include "fmbem/fmm/cpu/kernels_isa.hpp"
#include "fmbem/fmm/cpu/simd_isa.hpp"

namespace fmbem::fmm::FMBEM_ISA {
namespace {

/// V registers of points.
template <class T, int V>
struct Block {
  Vec<T> x[V], y[V], z[V], r2[V];

  Block() = default;
  FMBEM_INLINE Block(const T* px, const T* py, const T* pz) {
    for (int v = 0; v < V; ++v) {
      x[v] = load(px + v * Simd<T>::lanes);
      y[v] = load(py + v * Simd<T>::lanes);
      z[v] = load(pz + v * Simd<T>::lanes);
      r2[v] = x[v] * x[v] + y[v] * y[v] + z[v] * z[v];
    }
  }
};

/// Turns (c, s) into diagonal (x + iy) (c + is).
template <class T>
FMBEM_INLINE void next_order(T diagonal, Vec<T> x, Vec<T> y, Vec<T>& c, Vec<T>& s) {
  const Vec<T> real = diagonal * (c * x - s * y);
  s = diagonal * (c * y + s * x);
  c = real;
}

/// Goes up one step in the degree.
template <class T, int V>
FMBEM_INLINE void next_degree(T up, T down, const Block<T, V>& point, Vec<T>* low, Vec<T>* here) {
  for (int v = 0; v < V; ++v) {
    const Vec<T> next = up * point.z[v] * here[v] - down * point.r2[v] * low[v];
    low[v] = here[v];
    here[v] = next;
  }
}

/// The factor of harmonics of degree n for kernels that are not homogeneous.
template <class T, int V, class Kernel>
struct DegreeFactors {
  Vec<T> f[(highest_order + 2) * V];

  FMBEM_INLINE DegreeFactors(Kernel kernel, const Block<T, V>& point, int p) {
    kernel.template regular_factors<V>(point.r2, p, f);
  }
  FMBEM_INLINE Vec<T> times(int v, int n, Vec<T> harmonic) const { return f[n * V + v] * harmonic; }
};
template <class T, int V, class Kernel>
requires Kernel::homogeneous struct DegreeFactors<T, V, Kernel> {
  FMBEM_INLINE DegreeFactors(Kernel, const Block<T, V>&, int) {}
  FMBEM_INLINE Vec<T> times(int, int, Vec<T> harmonic) const { return harmonic; }
};

/// The irregular functions of a kernel as regular ones at inverted points: with ξ = x/|x|² (Kelvin)
/// S_i(x)/|x|^{2n+1} = |ξ| S_i(ξ).
FMBEM_INLINE Laplace inverted(Laplace kernel) { return kernel; }

/// Those of Yukawa's kernel (yukawa_translations.hpp) are T_i(x) = |ξ| S_i(ξ) h_n(κ/|ξ|).
struct InvertedYukawa {
  static constexpr bool homogeneous = false;

  double kappa;

  /// Writes h_n of N registers of places to h[n N …], n ≤ max(p, 1), from their |ξ|² > 0. By the
  /// recurrence h_{n+1} = h_n + z² h_{n−1}/((2n−1)(2n+1)) upwards, all of whose terms are positive;
  /// h_0 = e^{−z}, h_1 = (1 + z) e^{−z} [DLMF 10.51].
  template <int N, class V>
  FMBEM_INLINE void regular_factors(const V* inverse_r2, int p, V* h) const {
    using T = std::remove_cvref_t<decltype(inverse_r2[0][0])>;
    V z2[N];
    for (int v = 0; v < N; ++v) {
      const V r2 = T(1) / inverse_r2[v], r = square_root<T>(r2);
      z2[v] = in<V>(kappa * kappa) * r2;
      h[v] = decay(kappa, r);
      h[N + v] = h[v] + in<V>(kappa) * (r * h[v]);
    }
    for (int n = 1; n < p; ++n) {
      const T factor = in<V>(1.0 / ((2 * n - 1) * (2 * n + 1)));
      for (int v = 0; v < N; ++v)
        h[(n + 1) * N + v] = h[n * N + v] + factor * (z2[v] * h[(n - 1) * N + v]);
    }
  }
};
FMBEM_INLINE InvertedYukawa inverted(Yukawa kernel) { return {kernel.kappa}; }

/// total[v][channel] = Σ_t locals[channel][2t] C_n^m + locals[channel][2t + 1] S_n^m at the points.
template <class T, int Channels, int V, class Kernel>
FMBEM_INLINE void expansion_at(Kernel kernel, HarmonicSteps<T> steps, const Block<T, V>& point,
                               const T* locals, Vec<T> (*total)[Channels]) {
  const int pairs = (steps.p + 1) * (steps.p + 2) / 2;
  const DegreeFactors<T, V, Kernel> factors(kernel, point, steps.p);
  Vec<T> c[V], s[V];
  for (int v = 0; v < V; ++v) {
    c[v] = broadcast(T(1));
    s[v] = Vec<T>{};
    for (int k = 0; k < Channels; ++k) total[v][k] = Vec<T>{};
  }
  int t = 0;
  for (int m = 0; m <= steps.p; ++m) {
    if (m > 0)
      for (int v = 0; v < V; ++v) next_order(steps.diagonal[m], point.x[v], point.y[v], c[v], s[v]);
    Vec<T> low[V], here[V], even[V][Channels], odd[V][Channels];
    for (int v = 0; v < V; ++v) {
      low[v] = Vec<T>{};
      here[v] = broadcast(T(1));
      for (int k = 0; k < Channels; ++k) even[v][k] = odd[v][k] = Vec<T>{};
    }
    for (int n = m; n <= steps.p; ++n, ++t) {
      for (int k = 0; k < Channels; ++k) {
        const T* local = locals + (k * pairs + t) * 2;
        for (int v = 0; v < V; ++v) {
          const Vec<T> q = factors.times(v, n, here[v]);
          even[v][k] += local[0] * q;
          odd[v][k] += local[1] * q;
        }
      }
      next_degree(steps.up[t], steps.down[t], point, low, here);
    }
    for (int v = 0; v < V; ++v)
      for (int k = 0; k < Channels; ++k) total[v][k] += c[v] * even[v][k] + s[v] * odd[v][k];
  }
}

}  // namespace
}  // namespace fmbem::fmm::FMBEM_ISA
