#pragma once

#include <cmath>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::fmm {

/// Real regular solid harmonics of degree n ≤ p, for m = 0 … n,
///
///     C_n^m + i S_n^m = √(2 − δ_m0) √((n−m)!(n+m)!) U_n^m,
///     U_n^m(x) = (−1)^m r^n P_n^m(cos θ) e^{imφ} / (n+m)!   (P_n^m without the sign (−1)^m)
///
/// so that Σ_i S_i(y) S_i(x) / |x|^{2n_i+1} = 1/|x − y| for |y| < |x|, and every |S_i| ≤ |x|^n.
/// They stand at index n² + n + m (C_n^m) and n² + n − m (S_n^m, m > 0): (p+1)² in all.
/// Source: Epton and Dembart 1995 for U; the normalisation keeps single precision in range.
inline constexpr int highest_order = 40;
constexpr FMBEM_HD int harmonic_count(int p) { return (p + 1) * (p + 1); }
constexpr FMBEM_HD int harmonic_index(int n, int m) { return n * n + n + m; }

/// c = C_m^m and s = S_m^m from those of m − 1 ≥ 0.
template <class T>
FMBEM_HD void next_sectorial(Vec3<T> x, int m, T& c, T& s) {
  const T scale = -std::sqrt(m == 1 ? T(1) : T(2 * m - 1) / T(2 * m));
  const T c_next = scale * (c * x.x - s * x.y);
  s = scale * (c * x.y + s * x.x);
  c = c_next;
}

/// Writes C_n^m and S_n^m for m ≤ n ≤ p to their places in out, from c = C_m^m and s = S_m^m.
template <class T>
FMBEM_HD void harmonics_of_order(Vec3<T> x, int m, T c, T s, int p, T* out) {
  const T r2 = norm2(x);
  T low = 0, here = 1;  // r^n P_n^m-like factors of degree n−1 and n, one at n = m
  for (int n = m; n <= p; ++n) {
    out[harmonic_index(n, m)] = here * c;
    if (m > 0) out[harmonic_index(n, -m)] = here * s;
    const T up = std::sqrt(T((n + 1) * (n + 1) - m * m)), down = std::sqrt(T(n * n - m * m));
    const T next = (T(2 * n + 1) * x.z * here - down * r2 * low) / up;
    low = here;
    here = next;
  }
}

/// Writes S_i(x) for i < (p+1)² to out.
template <class T>
FMBEM_HD void regular_harmonics(Vec3<T> x, int p, T* out) {
  T c = 1, s = 0;
  for (int m = 0; m <= p; ++m) {
    if (m > 0) next_sectorial(x, m, c, s);
    harmonics_of_order(x, m, c, s, p, out);
  }
}

}  // namespace fmbem::fmm
