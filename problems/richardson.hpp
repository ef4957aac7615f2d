#pragma once

#include <span>

#include "fmbem/problems/capacitance.hpp"

namespace fmbem {

/// Estimate of the discretization error of the last of a sequence of results, each on a mesh of
/// half the size of the one before.
struct RichardsonEstimate {
  double order = 1;       ///< observed from three results; with two, 1 is assumed
  bool observed = false;  ///< whether it was observed
  SquareMatrix extrapolated;
  double error = 0;  ///< largest |last − extrapolated|, in the unit of the results
};

/// Richardson extrapolation: C(h) = C + a hᵖ, with 2ᵖ = ‖C₁−C₀‖/‖C₂−C₁‖ (Frobenius). With
/// two results, or where p is not within [½, 3] and so chance rather than order, it is
/// `assumed_order`: 4/3 is that of closed bodies with edges, 1 of open ones. Throws InputError for
/// fewer than two results.
RichardsonEstimate richardson(std::span<const SquareMatrix> results, double assumed_order);

}  // namespace fmbem
