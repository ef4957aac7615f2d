#pragma once

#include <string>
#include <vector>

#include "fmbem/problems/problem_results.hpp"

namespace fmbem {

/// [domains], V: what is to be added to φ.
/// - Where φ is known up to a constant, its mean over the Neumann surfaces becomes 0; where there
///   are none, that over the conductors.
/// - Where nothing but walls with ∂φ/∂n = (h − aφ)/c says what φ is, and these are weak, a L < c,
///   φ has the solver's error times c/(aL) beside what flows, a constant. Gauss's law gives it:
///   ∮ (h − aφ) and what else enters add up to 0.
/// O(panels) for each domain.
template <class T>
std::vector<T> domain_constants(const ProblemParts& parts,
                                const BasicPanelConditions<T>& conditions,
                                const BasicPanelData<T>& data, const FoundValues<T>& found);

/// A sentence for each region of several pieces, one of which is fixed by weak Robin walls alone:
/// it has no constant in domain_constants(), and `tolerance`, the solver's, times c/(aL) is an
/// error there of more than a hundredth of what φ ranges over.
template <class T>
std::vector<std::string> leaky_piece_warnings(const ProblemParts& parts,
                                              const BasicPanelConditions<T>& conditions,
                                              double tolerance);

/// A sentence for each domain that nothing but Robin conditions fixes and where potentials are far
/// from 0 for what they range over: errors of the surface, relative to what it gives, count as
/// often in differences.
std::vector<std::string> constant_warnings(const ProblemParts& parts, const ProblemResult& result);

}  // namespace fmbem
