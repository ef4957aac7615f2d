#include "tests/unit/fmm/oracles.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace fmbem::test {
namespace {

using Real = long double;
using Vec3r = Vec3<Real>;
using Complex = std::complex<Real>;

Vec3r extended(Vec3d x) { return {x.x, x.y, x.z}; }
bool is_odd(int n) { return n % 2 != 0; }
int at(int n, int m) { return n * n + n + m; }
int size_of(int p) { return (p + 1) * (p + 1); }

Real binomial(int n, int k) {
  Real value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

/// V_n^m = √((n−m)!(n+m)!) U_n^m, for −n ≤ m ≤ n: V_n^−m is (−1)^m times the conjugate of V_n^m.
Complex complex_harmonic(Vec3d point, int n, int m) {
  const Vec3r x = extended(point);
  const Real r = norm(x), angle = m * std::atan2(x.y, x.x);
  const int order = std::abs(m);
  Real ratio = 1;  // (n−|m|)!/(n+|m|)!
  for (int i = n - order + 1; i <= n + order; ++i) ratio /= i;
  const Real size =
      std::sqrt(ratio) * std::pow(r, n) * std::assoc_legendre(n, order, r > 0 ? x.z / r : Real(1));
  return (m > 0 && is_odd(m) ? -size : size) * Complex(std::cos(angle), std::sin(angle));
}

std::vector<Complex> complex_harmonics(Vec3d x, int p) {
  std::vector<Complex> v(size_of(p));
  for (int n = 0; n <= p; ++n)
    for (int m = -n; m <= n; ++m) v[at(n, m)] = complex_harmonic(x, n, m);
  return v;
}

/// S_i = Σ factor·V_index, a row of a unitary matrix A.
struct Term {
  int index;
  Complex factor;
};
std::array<Term, 2> terms_of_real(int n, int m) {
  if (m == 0) return {{{at(n, 0), 1}, {at(n, 0), 0}}};
  const Real half = std::sqrt(Real(0.5)), mirrored = is_odd(m) ? -half : half;
  if (m > 0) return {{{at(n, m), half}, {at(n, -m), mirrored}}};
  return {{{at(n, -m), Complex(0, -half)}, {at(n, m), Complex(0, mirrored)}}};
}

/// A T Aᴴ [K·K] for the entries T(n, m, k, l) between V_n^m and V_k^l.
template <class Entry>
std::vector<double> in_real_basis(int p, Entry entry) {
  const int K = size_of(p);
  std::vector<Complex> T(static_cast<std::size_t>(K) * K);
  std::vector<std::array<Term, 2>> A;
  for (int n = 0; n <= p; ++n) {
    for (int m = -n; m <= n; ++m) {
      A.push_back(terms_of_real(n, m));
      for (int k = 0; k <= p; ++k)
        for (int l = -k; l <= k; ++l) T[at(n, m) * K + at(k, l)] = entry(n, m, k, l);
    }
  }
  std::vector<double> real(T.size());
  for (int i = 0; i < K; ++i) {
    for (int j = 0; j < K; ++j) {
      Complex sum = 0;
      for (const Term& a : A[i])
        for (const Term& b : A[j]) sum += a.factor * T[a.index * K + b.index] * std::conj(b.factor);
      real[i * K + j] = static_cast<double>(sum.real());
    }
  }
  return real;
}

/// ∂S_n^row/∂x_axis has the term factor·S_{n−1}^column.
struct Derivative {
  int row, axis, column;
  Real factor;
};

/// All of degree n, from ∂_z U_n^m = U_{n−1}^m and (∂_x ± i∂_y) U_n^m = ±U_{n−1}^{m±1}.
std::vector<Derivative> derivatives(int n) {
  std::vector<Derivative> d;
  const auto add = [&](int row, int axis, int column, Real factor) {
    if (std::abs(column) < n) d.push_back({row, axis, column, factor});
  };
  for (int m = 0; m <= n; ++m) {
    const Real same = std::sqrt(Real(n * n - m * m));
    const Real up = std::sqrt(Real((n - m) * (n - m - 1)) / (m == 0 ? 2 : 4));
    const Real down = std::sqrt(Real((n + m) * (n + m - 1)) / (m == 1 ? 2 : 4));
    add(m, 2, m, same);
    add(m, 0, m + 1, up);
    add(m, 1, -m - 1, up);
    if (m == 0) continue;
    add(-m, 2, -m, same);
    add(-m, 0, -m - 1, up);
    add(-m, 1, m + 1, -up);
    add(m, 0, m - 1, -down);
    add(-m, 1, m - 1, -down);
    if (m == 1) continue;
    add(-m, 0, 1 - m, -down);
    add(m, 1, 1 - m, down);
  }
  return d;
}

using RealMatrix = std::vector<Real>;
using Rows = std::array<Vec3r, 3>;

/// R_n [2n+1, 2n+1] with S_n(Qx) = R_n S_n(x), for n = 0 … p. The chain rule for D_axis [2n+1,
/// 2n−1], the derivatives of degree n, and Σ D_axis D_axisᵀ = n(2n−1) give R_n from R_{n−1}, as the
/// part of Q ⊗ R_{n−1} of degree n:
///
///     n(2n−1) R_n = Σ_ab Q_ab D_a R_{n−1} D_bᵀ.
std::vector<RealMatrix> rotations(const Rows& Q, int p) {
  std::vector<RealMatrix> R{RealMatrix{1}};
  for (int n = 1; n <= p; ++n) {
    const auto D = derivatives(n);
    const int rows = 2 * n + 1, rows_below = 2 * n - 1;
    RealMatrix turned(rows * rows);
    for (const Derivative& a : D)
      for (const Derivative& b : D)
        turned[(a.row + n) * rows + b.row + n] +=
            a.factor * b.factor / (n * (2 * n - 1)) * Q[a.axis][b.axis] *
            R.back()[(a.column + n - 1) * rows_below + b.column + n - 1];
    R.push_back(std::move(turned));
  }
  return R;
}

/// Orthogonal matrix that takes r to |r| along z.
Rows rotation_to_z(Vec3r r) {
  const Vec3r z = r / norm(r);
  const Vec3r across = cross(z, std::abs(z.x) < std::abs(z.y) ? Vec3r{1, 0, 0} : Vec3r{0, 1, 0});
  const Vec3r x = across / norm(across);
  return {x, cross(z, x), z};
}

/// R_n v_n or, transposed, R_nᵀ v_n for every degree n.
std::vector<Real> turn(const std::vector<RealMatrix>& R, const std::vector<Real>& v,
                       bool transposed) {
  std::vector<Real> out(v.size());
  for (int n = 0; n < static_cast<int>(R.size()); ++n)
    for (int m = -n; m <= n; ++m)
      for (int l = -n; l <= n; ++l)
        out[at(n, m)] +=
            R[n][(transposed ? l + n : m + n) * (2 * n + 1) + (transposed ? m + n : l + n)] *
            v[at(n, l)];
  return out;
}

/// L_n^m = Σ_k (−1)^(n+m) (n+k)! / √((n−m)!(n+m)!(k−m)!(k+m)!) M_k^m / distance^(n+k+1)
std::vector<Real> m2l_along_z(Real distance, int p, const std::vector<Real>& M) {
  const auto factorial = [](int n) { return std::tgamma(Real(n + 1)); };
  std::vector<Real> L(M.size());
  for (int n = 0; n <= p; ++n)
    for (int m = -n; m <= n; ++m)
      for (int k = std::abs(m); k <= p; ++k)
        L[at(n, m)] += (is_odd(n + m) ? -1 : 1) * factorial(n + k) /
                       std::sqrt(factorial(n - m) * factorial(n + m)) /
                       std::sqrt(factorial(k - m) * factorial(k + m)) * M[at(k, m)] /
                       std::pow(distance, n + k + 1);
  return L;
}

}  // namespace

std::vector<double> harmonics_oracle(Vec3d x, int p) {
  const auto v = complex_harmonics(x, p);
  std::vector<double> s;
  for (int n = 0; n <= p; ++n) {
    for (int m = -n; m <= n; ++m) {
      const auto [a, b] = terms_of_real(n, m);
      s.push_back(static_cast<double>((a.factor * v[a.index] + b.factor * v[b.index]).real()));
    }
  }
  return s;
}

std::vector<double> local_of_point(Vec3d y, int p) {
  std::vector<double> L = harmonics_oracle(y, p);
  const Real distance = norm(extended(y));
  for (int n = 0; n <= p; ++n)
    for (int m = -n; m <= n; ++m)
      L[at(n, m)] = static_cast<double>(L[at(n, m)] / std::pow(distance, 2 * n + 1));
  return L;
}

std::vector<double> m2m_oracle(Vec3d t, double scale, int p) {
  const auto v = complex_harmonics(t, p);
  return in_real_basis(p, [&](int n, int m, int k, int l) -> Complex {
    if (std::abs(m - l) > n - k) return 0;
    return std::sqrt(binomial(n - m, k - l) * binomial(n + m, k + l)) * std::pow(Real(scale), k) *
           v[at(n - k, m - l)];
  });
}

std::vector<double> m2l_oracle(Vec3d r, int p) {
  const auto v = complex_harmonics(r, 2 * p);
  const Real distance = norm(extended(r));
  return in_real_basis(p, [&](int n, int m, int k, int l) -> Complex {
    const int degree = n + k, order = m - l;
    return (is_odd(n + l) ? -1 : 1) *
           std::sqrt(binomial(degree - order, n - m) * binomial(degree + order, n + m)) *
           v[at(degree, order)] / std::pow(distance, 2 * degree + 1);
  });
}

std::vector<double> m2l_by_rotation(Vec3d r, int p, const std::vector<double>& M) {
  const auto R = rotations(rotation_to_z(extended(r)), p);
  const auto turned = turn(R, {M.begin(), M.end()}, false);
  const auto L = turn(R, m2l_along_z(norm(extended(r)), p, turned), true);
  return {L.begin(), L.end()};
}

}  // namespace fmbem::test
