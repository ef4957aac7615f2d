#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"

namespace fmbem::fmm {

/// How operators between boxes change where two axes are exchanged. With S_i(x, z, y) =
/// Σ_j P_ij S_j(x, y, z), P being orthogonal and symmetric, moments and local expansions go to P
/// times themselves, and an operator M to P M P. P mixes harmonics of one degree, and takes a class
/// to the one with these axes exchanged.
class ExchangedAxes {
 public:
  explicit ExchangedAxes(const ParityOrder& order);

  /// Of x and y, whose P has one entry a row: the angle φ becomes π/2 − φ. From [K][K] to [K][K].
  void x_and_y(const LargeVector<double>& from, LargeVector<double>& to) const;
  /// Of y and z; `room` is a buffer. O(K² p).
  void y_and_z(const LargeVector<double>& from, LargeVector<double>& to,
               std::vector<double>& room) const;

 private:
  /// Harmonics of one degree and class, in their order, and those that P makes of them.
  struct Run {
    int begin, count, from;
    std::vector<double> p;  ///< [of `from`][of `begin`]

    std::size_t at(int a, int i) const {
      return static_cast<std::size_t>(a) * static_cast<std::size_t>(count) +
             static_cast<std::size_t>(i);
    }
  };

  std::size_t at(int i, int j) const {
    return static_cast<std::size_t>(i) * count_ + static_cast<std::size_t>(j);
  }

  int count_;
  std::vector<int> other_;    ///< [K]: the harmonic that x and y exchanged make of one
  std::vector<double> sign_;  ///< [K]: with this sign
  std::vector<Run> runs_;
};

}  // namespace fmbem::fmm
