// Expansions in spherical harmonics of any order, as steps 4 to 6 explain them, for those after.
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

/// P2M: adds a charge at x from the centre. M_n^m = Σ q U_n^m.
inline void p2m(Expansion& moments, double q, Vec3d x) {
  const Expansion u = regular(x, moments.p);
  for (std::size_t k = 0; k < u.values.size(); ++k) moments.values[k] += q * u.values[k];
}
/// M2P: the potential at x from the centre.
inline double m2p(const Expansion& moments, Vec3d x) {
  return product(irregular(x, moments.p), moments);
}
/// M2M: adds moments about a centre at t from the new one. U(x + t) = Σ U(x) U(t).
inline void m2m(Expansion& to, const Expansion& from, Vec3d t) {
  const Expansion u = regular(t, to.p);
  for (int n = 0; n <= to.p; ++n)
    for (int m = 0; m <= n; ++m)
      for (int k = 0; k <= n; ++k)
        for (int l = -k; l <= k; ++l) to.at(n, m) += from(k, l) * u(n - k, m - l);
}
/// M2L: adds moments as a local expansion Σ L_n^m conj(U_n^m(x)); r is its centre from theirs.
inline void m2l(Expansion& local, const Expansion& moments, const Expansion& t_of_r) {
  for (int n = 0; n <= local.p; ++n)
    for (int m = 0; m <= n; ++m) {
      Complex sum = 0;
      for (int k = 0; k <= moments.p; ++k)
        for (int l = -k; l <= k; ++l) sum += std::conj(moments(k, l)) * t_of_r(n + k, m + l);
      local.at(n, m) += n % 2 ? -sum : sum;
    }
}
/// L2L: adds a local expansion about another centre, which is at t from the old one.
inline void l2l(Expansion& to, const Expansion& from, Vec3d t) {
  const Expansion u = regular(t, to.p);
  for (int k = 0; k <= to.p; ++k)
    for (int l = 0; l <= k; ++l)
      for (int n = k; n <= from.p; ++n)
        for (int m = -n; m <= n; ++m) to.at(k, l) += from(n, m) * std::conj(u(n - k, m - l));
}
/// L2P: the potential at x from the centre.
inline double l2p(const Expansion& local, Vec3d x) { return product(local, regular(x, local.p)); }
