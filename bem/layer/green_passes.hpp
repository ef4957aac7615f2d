#pragma once

#include <cmath>
#include <vector>

#include "fmbem/bem/near/green_entries.hpp"

namespace fmbem {

/// What goes through a far field at once: factors of σ and μ, and of potentials and derivatives.
struct GreenPass {
  double sigma, mu, potential, flux;
};

/// One pass where v d = k k', else one for each result.
inline std::vector<GreenPass> passes_of(const GreenTerm& t) {
  if (!t.has_flux()) return {{t.v, t.k, 1, 0}};
  const double first = t.v * t.d, second = t.k * t.k_adjoint;
  if (std::abs(first - second) <= 1e-14 * std::abs(first)) {
    // (v, k) and (k', d) are multiples of each other.
    if (t.v == 0 && t.k == 0) return {{t.k_adjoint, t.d, 0, 1}};
    return {{t.v, t.k, 1, std::abs(t.v) > std::abs(t.k) ? t.k_adjoint / t.v : t.d / t.k}};
  }
  return {{t.v, t.k, 1, 0}, {t.k_adjoint, t.d, 0, 1}};
}

}  // namespace fmbem
