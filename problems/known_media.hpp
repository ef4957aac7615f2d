#pragma once

#include "fmbem/problems/study_problem.hpp"

namespace fmbem {

/// Nine bars in three layers of dielectrics, as in a memory: slabs of 7 × 7 × 2 with permittivities
/// `permittivity`, 3.9 and 100 from below, air around them, and on each of the three interfaces
/// three bars of 5 × 1 × 1, of which the one in the middle of all is at 1 V and the others are at
/// 0. 1034 triangles, each split into four `refine` times.
StudyProblem memory_cell(int refine, double permittivity);

/// Spheres about the origin with radii 0.6, 0.8 and 1, of `permittivity`, 4 and 2 from the inside,
/// in a uniform field along z, whose potential is known. 384 triangles.
StudyProblem nested_shells(int refine, double permittivity);

}  // namespace fmbem
