#pragma once

#include "fmbem/fmm/base/hd.hpp"

namespace fmbem {

/// A symmetric 3 × 3 matrix.
template <class T>
struct Symmetric3 {
  T xx{}, xy{}, xz{}, yy{}, yz{}, zz{};

  /// The six entries in the order of the members.
  FMBEM_HD constexpr T& operator[](int k) {
    return k == 0 ? xx : k == 1 ? xy : k == 2 ? xz : k == 3 ? yy : k == 4 ? yz : zz;
  }
  FMBEM_HD constexpr T operator[](int k) const {
    return k == 0 ? xx : k == 1 ? xy : k == 2 ? xz : k == 3 ? yy : k == 4 ? yz : zz;
  }
  FMBEM_HD constexpr T operator()(int i, int j) const {
    const int low = i < j ? i : j;
    return (*this)[low == 0 ? i + j : i + j + 1];
  }

  FMBEM_HD constexpr Symmetric3& operator+=(const Symmetric3& b) {
    for (int k = 0; k < 6; ++k) (*this)[k] += b[k];
    return *this;
  }
  FMBEM_HD friend constexpr Symmetric3 operator*(T s, Symmetric3 a) {
    for (int k = 0; k < 6; ++k) a[k] *= s;
    return a;
  }
  FMBEM_HD friend constexpr Symmetric3 operator-(const Symmetric3& a, const Symmetric3& b) {
    Symmetric3 difference;
    for (int k = 0; k < 6; ++k) difference[k] = a[k] - b[k];
    return difference;
  }
  friend constexpr bool operator==(const Symmetric3&, const Symmetric3&) = default;
};

/// The square of Frobenius's norm.
template <class T>
FMBEM_HD constexpr T norm2(const Symmetric3<T>& a) {
  return a.xx * a.xx + a.yy * a.yy + a.zz * a.zz + 2 * (a.xy * a.xy + a.xz * a.xz + a.yz * a.yz);
}

using Symmetric3d = Symmetric3<double>;

}  // namespace fmbem
