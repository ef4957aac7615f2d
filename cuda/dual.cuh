#pragma once

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::cuda {

/// A number and its derivative in some direction: what is computed of such numbers comes with its
/// own derivative. Source: Griewank and Walther 2008, Evaluating Derivatives, ch. 3.
template <class T>
struct Dual {
  T value = 0, slope = 0;

  Dual() = default;
  FMBEM_HD Dual(T number, T derivative = 0) : value(number), slope(derivative) {}

  FMBEM_HD friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  FMBEM_HD friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  FMBEM_HD friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  FMBEM_HD friend Dual operator*(T a, Dual b) { return {a * b.value, a * b.slope}; }
};

/// a b, of which the derivative is wanted where there is one.
template <class T>
FMBEM_HD T wanted_product(T a, T b) {
  return a * b;
}
template <class T>
FMBEM_HD T wanted_product(Dual<T> a, Dual<T> b) {
  return a.slope * b.value + a.value * b.slope;
}

}  // namespace fmbem::cuda
