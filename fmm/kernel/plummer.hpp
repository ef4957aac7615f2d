#pragma once

#include <compare>

#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::fmm {

/// G(x, y) = 1/(4π√(|x − y|² + ε²)), the potential of a ball of charge that thins out over a radius
/// ε (Plummer 1911). Direct sums alone have it: it has no multipole expansion of its own.
struct Plummer {
  double softening;  ///< ε, in the unit of the coordinates

  auto operator<=>(const Plummer&) const = default;

  static constexpr double scale = Laplace::scale;
  static constexpr bool homogeneous = false;

  template <class V>
  FMBEM_HD FMBEM_INLINE V softened(V r2) const {
    return r2 + in<V>(softening * softening);
  }
  Plummer for_root_scale(double /*s*/) const { return *this; }
  /// All is as in Laplace's kernel, with w = 1/√(r² + ε²).
  template <int RootTerms = 3, class V>
  FMBEM_HD FMBEM_INLINE Laplace::Radial<V> radial(V /*r2*/, V w) const {
    return {w};
  }
};

}  // namespace fmbem::fmm
