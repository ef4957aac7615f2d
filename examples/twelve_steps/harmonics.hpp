// Solid harmonics of any order, as step 4 explains them, for the steps after.
#pragma once

#include <complex>

#include "step.hpp"

using Complex = std::complex<double>;

/// Coefficients F_n^m for n ≤ p, −n ≤ m ≤ n, zero beyond; F_n^−m = (−1)^m conj(F_n^m).
struct Expansion {
  explicit Expansion(int order) : p(order), values((p + 1) * (p + 2) / 2) {}
  Complex& at(int n, int m) { return values[n * (n + 1) / 2 + m]; }  // m ≥ 0
  Complex operator()(int n, int m) const {
    if (n > p || std::abs(m) > n) return 0;
    const Complex f = values[n * (n + 1) / 2 + std::abs(m)];
    return m >= 0 ? f : m % 2 ? -std::conj(f) : std::conj(f);
  }
  int p;
  std::vector<Complex> values;
};

/// U_n^m(x), of degree n: finite at 0.
inline Expansion regular(Vec3d x, int p) {
  Expansion u(p);
  u.at(0, 0) = 1;
  for (int m = 0; m <= p; ++m) {
    if (m > 0) u.at(m, m) = -Complex(x.x, x.y) / (2.0 * m) * u(m - 1, m - 1);
    for (int n = m + 1; n <= p; ++n)
      u.at(n, m) = ((2 * n - 1) * x.z * u(n - 1, m) - norm2(x) * u(n - 2, m)) /
                   static_cast<double>(n * n - m * m);
  }
  return u;
}

/// T_n^m(x), falling off as 1/|x|^(n+1); 1/|x − y| = Σ conj(U_n^m(y)) T_n^m(x) where |y| < |x|.
inline Expansion irregular(Vec3d x, int p) {
  Expansion t(p);
  const double r2 = norm2(x);
  t.at(0, 0) = 1 / std::sqrt(r2);
  for (int m = 0; m <= p; ++m) {
    if (m > 0) t.at(m, m) = -(2.0 * m - 1) / r2 * Complex(x.x, x.y) * t(m - 1, m - 1);
    for (int n = m + 1; n <= p; ++n)
      t.at(n, m) = ((2 * n - 1) * x.z * t(n - 1, m) -
                    static_cast<double>((n - 1) * (n - 1) - m * m) * t(n - 2, m)) /
                   r2;
  }
  return t;
}

/// Σ_nm a_n^m b_n^m over all n and m, which is real.
inline double product(const Expansion& a, const Expansion& b) {
  double sum = 0;
  for (int n = 0; n <= a.p; ++n)
    for (int m = 0; m <= n; ++m) sum += (m ? 2 : 1) * (a(n, m) * std::conj(b(n, m))).real();
  return sum;
}
