#pragma once

#include <cstdint>
#include <vector>

namespace fmbem {

/// What replaces the mean, weighted by area, of the rows of a part of the panels:
///
///     y_i ← y_i − (Σ_part A y)/A_part + (Q_part + Σ factor Q_other)/A_part,
///     Q_p = Σ_{j in p} w_j A_j σ_j, w the weights of MixedRows.
///
/// A floating conductor's charge is given, and its potential is not: it has no others. For a closed
/// dielectric interface the mean of the rows says Gauss's law, here divided such that its own
/// charge has the factor 1; left to the rows, at high contrasts its charge would be made of the
/// products' errors (docs/decisions.md).
struct ChargeEquation {
  std::int32_t part = 0;
  struct Other {
    std::int32_t part;
    double factor;
  };
  std::vector<Other> others{};  ///< what is inside
};

/// The rows of an operator on the densities σ of panels, one panel after the other:
///
///     y_i = α_i (V σ)_i + β_i (K' σ)_i + γ_i σ_i,
///
/// K' averaged over panels (NormalRows::averaged) with their own normals; then charge equations.
struct MixedRows {
  std::vector<double> alpha, beta, gamma;  ///< [n], in the order of Panels
  std::vector<std::int32_t> part{};        ///< [n], 0, 1, …; empty without charge equations
  std::vector<ChargeEquation> equations{};
  std::vector<double> weight{};  ///< [n], of charges in equations; empty: 1 each
};

}  // namespace fmbem
