#pragma once

#include <string>
#include <vector>

#include "fmbem/problems/problem_results.hpp"

namespace fmbem {

/// A sentence for each region whose potentials may be off by a tenth and more of what they range
/// over on its walls, as they are small differences of large numbers there: the region has a far
/// larger coefficient than what is behind a wall. Charges and fluxes know nothing of it.
///
/// The layer's error in φ is some 0.6 (A σ)/R, in the mean square over walls of panels of area A,
/// R² being the walls' area over 4π: a sphere in a uniform field has that, whatever the contrast. A
/// source's is up to ten times less, as Gauss's law holds exactly (docs/accuracy.md).
template <class T>
std::vector<std::string> contrast_warnings(const ProblemParts& parts, const FoundValues<T>& found,
                                           const std::string& result);

}  // namespace fmbem
