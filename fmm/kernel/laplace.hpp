#pragma once

#include <compare>
#include <numbers>

#include "fmbem/fmm/kernel/pair.hpp"

namespace fmbem::fmm {

/// G(x, y) = 1/(4π|x − y|).
struct Laplace {
  auto operator<=>(const Laplace&) const = default;

  /// G = scale · g: sums are of g, and results are multiplied by the scale once.
  static constexpr double scale = 0.25 * std::numbers::inv_pi;
  /// g(s r) = g(r)/s: one set of translation operators serves all levels, and a 1/r that is off by
  /// a constant factor can be put right in the results.
  static constexpr bool homogeneous = true;

  template <class V>
  struct Radial {
    V g;
    FMBEM_HD FMBEM_INLINE V a() const { return g * g; }
    FMBEM_HD FMBEM_INLINE V b() const { return 3 + V{}; }
    FMBEM_HD FMBEM_INLINE V c() const { return 5 + V{}; }
  };
  template <class V>
  FMBEM_HD FMBEM_INLINE V softened(V r2) const {
    return r2;
  }
  /// The kernel whose g is s g where w comes s times as large, its derivatives s³ and s⁵ times.
  Laplace for_root_scale(double /*s*/) const { return *this; }
  template <int RootTerms = 3, class V>
  FMBEM_HD FMBEM_INLINE Radial<V> radial(V /*r2*/, V w) const {
    return {w};
  }
};

}  // namespace fmbem::fmm
