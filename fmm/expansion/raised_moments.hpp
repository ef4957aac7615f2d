#pragma once

#include <vector>

#include "fmbem/fmm/expansion/harmonic_table.hpp"

namespace fmbem::fmm {

/// Multipole expansions with their derivatives, which are multipole expansions of one degree more.
/// As ∂_x G = −∂_y G, these are those of dipoles: with ∂ R_i = Σ_j D_ij R_j along an axis,
///
///     ∂ Σ_j M_j T_j = −Σ_i (Σ_j D_ij M_j) T_i,
///
/// R_i and T_i being the functions of yukawa_translations.hpp.
template <class T>
class RaisedMoments {
 public:
  /// For expansions of that order.
  explicit RaisedMoments(const ParityOrder& order);

  /// Of one degree more.
  const HarmonicTable<T>& table() const { return table_; }
  /// [slots] of the table: the place of the moment among those of the order, or −1.
  const std::vector<int>& lower() const { return lower_; }

  /// Writes the coefficients of the expansion and of its three derivatives, [4][slots] of the
  /// table, from its moments [K]. κ and lengths are in the unit of the box.
  void write(double kappa, const T* moments, T* out) const;

 private:
  HarmonicTable<T> table_;
  std::vector<int> lower_;
};

}  // namespace fmbem::fmm
