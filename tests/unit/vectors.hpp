#pragma once

// Norms and products, for tests and benchmarks.
#include <cmath>
#include <numeric>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test {

using Vector = std::vector<double>;

inline double norm_of(const Vector& x) {
  double sum = 0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

inline Vector difference(Vector a, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return a;
}

/// Σ a_i b_i, over the numbers of a.
inline double inner_product(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// ‖a − b‖/‖b‖
inline double relative_difference(const Vector& a, const Vector& b) {
  return norm_of(difference(a, b)) / norm_of(b);
}

inline Vector product(const BoundaryOperator& v, const Vector& x) {
  Vector y(x.size());
  v.apply(x.data(), y.data());
  return y;
}

/// A lower bound of ‖V‖ by the power method, from a constant vector: V's entries are positive.
inline double norm_of(const BoundaryOperator& v) {
  Vector x(v.size(), 1.0);
  double norm = 0;
  for (int step = 0; step < 15; ++step) {
    const Vector y = product(v, x);
    norm = norm_of(y) / norm_of(x);
    for (std::size_t i = 0; i < y.size(); ++i) x[i] = y[i] / norm_of(y);
  }
  return norm;
}

/// A lower bound of ‖B‖₂ by power iterations of BᵀB, from a vector without symmetries. apply(x,
/// transposed) gives B x or Bᵀ x.
template <class Apply>
double two_norm(std::size_t n, const Apply& apply, int steps = 25) {
  Vector x = signed_charges(n, 5);
  for (double& v : x) v += 0.5;
  double norm = 0;
  for (int step = 0; step < steps; ++step) {
    const double length = norm_of(x);
    if (!(length > 0)) return norm;
    for (double& v : x) v /= length;
    const Vector y = apply(x, false);
    norm = norm_of(y);
    x = apply(y, true);
  }
  return norm;
}

}  // namespace fmbem::test
