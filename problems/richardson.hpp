#pragma once

#include <span>
#include <vector>

namespace fmbem {

/// A result of several numbers of one unit, such as a matrix's entries.
using Entries = std::vector<double>;

/// How results converge, each on a mesh of half the size of the one before: C(h) = C + a hᵖ.
struct Convergence {
  double order = 1;  ///< p
  /// Whether three results show a possible order; else it is assumed.
  bool observed = false;
  /// Whether the order that shows is above the highest: then a term is still larger than the one
  /// that will remain.
  bool too_high = false;
  double safety = 3;  ///< factor of the estimates of errors: 1.25 where the order was observed
};

/// The order of the last three results, 2ᵖ = ‖C₁−C₀‖/‖C₂−C₁‖ (Euclidean), if it is between ½ and
/// `highest_order`, which is reached when meshes are fine enough. An order that seems higher will
/// still fall, because the error is not yet that of fine meshes. With two results it is the
/// highest. Throws InputError for fewer than two. Source of the factors of safety: Roache 1994,
/// "Perspective: a method for uniform reporting of grid refinement studies", J. Fluids Eng. 116.
Convergence observe_convergence(std::span<const Entries> results, double highest_order);

/// The last result and Richardson's correction, (C₂−C₁)/(2ᵖ−1).
Entries extrapolated(std::span<const Entries> results, const Convergence& convergence);

/// Estimates of the last result's errors, entry by entry: s·max(|C₂−C₁|, 2⁻ᵖ|C₁−C₀|)/(2ᵖ−1), s
/// being the factor of safety. The second term is for entries that two meshes give the same by
/// chance. Where an order between 1 and 2 is observed, s|a + b| of C(h) = C + a h + b h² through
/// the last three results if that is more, since edges and tips have orders that smooth faces hide
/// on coarse meshes: the order falls. Where the order is too high, s(|a| + |b|) of C(h) = C + a hᵖ
/// + b h²ᵖ, h = 1 being the last's size, as bodies with and without open edges side by side have
/// it. Source of fits with two terms: Eça and Hoekstra 2014, J. Comput. Phys. 262.
Entries discretization_error(std::span<const Entries> results, const Convergence& convergence);

}  // namespace fmbem
