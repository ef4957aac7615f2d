#pragma once

#include <utility>

namespace fmbem {

/// Σ_n c(n) tⁿ Pₙ(cosine), |t| < 1, terms 0 to 299. `coefficient` is asked for n in turn.
template <class Coefficient>
double legendre_sum(double t, double cosine, Coefficient&& coefficient) {
  double sum = 0, power = 1, legendre = 1, next = cosine;  // Pₙ and Pₙ₊₁
  for (int n = 0; n < 300; ++n) {
    sum += coefficient(n) * power * legendre;
    power *= t;
    const double after = ((2 * n + 3) * cosine * next - (n + 1) * legendre) / (n + 2);
    legendre = std::exchange(next, after);
  }
  return sum;
}

}  // namespace fmbem
