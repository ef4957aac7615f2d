#pragma once

#include <cstddef>
#include <functional>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/solvers/petsc.hpp"

namespace fmbem {

/// The entries a_ij of panels that are close, as a sparse matrix for PETSc's preconditioners (ILU,
/// additive Schwarz, multigrid): |c_i − c_j| ≤ reach·(√A_i + √A_j) with areas A. A reach of 2 is
/// some 50 entries a row on an even mesh. The pattern is symmetric; the caller destroys it.
Mat make_near_matrix(const Panels& panels,
                     const std::function<double(std::size_t i, std::size_t j)>& entry,
                     double reach = 2);

}  // namespace fmbem
