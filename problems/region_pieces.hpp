#pragma once

#include <span>

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
/// Of the domains it sets leaky_piece, and robin_alone to false for those that are not one piece,
/// or may not be.
void check_pieces_of_regions(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                             std::span<const ResolvedGroup> groups, const Panels& panels,
                             Domains& domains);

}  // namespace fmbem
