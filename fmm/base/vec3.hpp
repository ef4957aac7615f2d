#pragma once

#include <cmath>

#include "fmbem/fmm/base/hd.hpp"

namespace fmbem {

/// A point or vector in space.
template <class T>
struct Vec3 {
  T x{}, y{}, z{};

  FMBEM_HD constexpr T& operator[](int axis) { return axis == 0 ? x : axis == 1 ? y : z; }
  FMBEM_HD constexpr T operator[](int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }

  FMBEM_HD friend constexpr Vec3 operator+(Vec3 a, Vec3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
  }
  FMBEM_HD friend constexpr Vec3 operator-(Vec3 a, Vec3 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  FMBEM_HD friend constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  FMBEM_HD friend constexpr Vec3 operator*(T s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
  FMBEM_HD friend constexpr Vec3 operator*(Vec3 a, T s) { return s * a; }
  FMBEM_HD friend constexpr Vec3 operator/(Vec3 a, T s) { return {a.x / s, a.y / s, a.z / s}; }
  FMBEM_HD constexpr Vec3& operator+=(Vec3 b) { return *this = *this + b; }
  FMBEM_HD constexpr Vec3& operator-=(Vec3 b) { return *this = *this - b; }
  friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

using Vec3d = Vec3<double>;

template <class T>
FMBEM_HD constexpr T dot(Vec3<T> a, Vec3<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
FMBEM_HD constexpr Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
FMBEM_HD constexpr T norm2(Vec3<T> a) {
  return dot(a, a);
}
template <class T>
FMBEM_HD inline T norm(Vec3<T> a) {
  return std::sqrt(norm2(a));
}

}  // namespace fmbem
