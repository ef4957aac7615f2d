#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/problem_regions.hpp"

namespace fmbem {

/// Regions are given by name, and what has one name may lie in several pieces that do not hang
/// together. Throws InputError
/// - where a surface lies in another region than the one that it names on that side: nothing would
///   say what holds there;
/// - where nothing says what φ is in a piece, known up to a constant of its own, and the domain of
///   its region has other pieces, with which it would share one.
/// Pieces are found from walls that hang together (Chambers) and from which of these enclose which.
/// Truncated surfaces leave open what that is: with them nothing is checked. O(n log n).
void check_pieces_of_regions(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                             std::span<const ResolvedGroup> groups, const Panels& panels,
                             const Domains& domains, const std::vector<bool>& is_grounded);

}  // namespace fmbem
