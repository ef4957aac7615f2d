#pragma once

#include <array>
#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::fmm {

/// Coefficients of the recurrences for the harmonics, pair by pair: t counts (n, m) with m ≥ 0, m
/// first. C_n^m = Q_t Re(w_m), S_n^m = Q_t Im(w_m), Q_{t+1} = up_t z Q_t − down_t r² Q_{t−1},
/// w_m = diagonal_m (x + iy) w_{m−1}. And where the harmonics stand in parity order.
template <class T>
struct HarmonicTable {
  explicit HarmonicTable(const ParityOrder& order);

  int slots() const { return static_cast<int>(position.size()); }

  int p;
  std::vector<T> up, down, diagonal;
  std::vector<int> position;  ///< [2 pairs]: of C_n^m at 2t, of S_n^m at 2t + 1 (−1 for m = 0)
  /// ∂ along each axis, with `to` as slot 2t or 2t + 1.
  std::array<std::vector<Derivative>, 3> derivatives;
  /// What Yukawa's regular functions have besides, over κ²: terms of one degree more.
  std::array<std::vector<Derivative>, 3> rises;

  /// Calls body(from, to, value) for all terms of ∂ along an axis.
  template <class Body>
  void for_derivative(int axis, double kappa, Body&& body) const {
    for (const Derivative& d : derivatives[axis]) body(d.from, d.to, d.value);
    if (kappa == 0) return;
    for (const Derivative& d : rises[axis]) body(d.from, d.to, kappa * kappa * d.value);
  }
};

}  // namespace fmbem::fmm
