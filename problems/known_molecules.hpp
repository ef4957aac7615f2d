#pragma once

#include "fmbem/problems/study_problem.hpp"

namespace fmbem {

/// Kirkwood's sphere: radius 4 Å, charges of 1, −1 and 0.5 e off its centre. Its energy is known
/// (J. G. Kirkwood 1934, J. Chem. Phys. 2), with ions, too. 128 triangles, each split into four
/// `refine` times.
StudyProblem kirkwood_sphere(int refine);

/// A molecule of thirteen atoms that overlap, one in the middle of twelve with charges of both
/// signs, in the surface of their union. 512 triangles.
StudyProblem small_molecule(int refine);

}  // namespace fmbem
