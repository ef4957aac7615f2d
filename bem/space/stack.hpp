#pragma once

#include <span>

#include "fmbem/bem/space/stack_frame.hpp"
#include "fmbem/bem/space/strip_rule.hpp"
#include "fmbem/fmm/functionals.hpp"

namespace fmbem {

/// Pieces that lie side by side, as those of equal cells of a film do: parallel, in one plane,
/// between the same two lines across (of constant s). Their fields differ by where they are across
/// and by their heights at both ends alone, which makes them sums of fewer parts: lines at
/// Chebyshev's points across, with Legendre's polynomials as densities. To `tolerance`, for targets
/// that are about a side away from the stack. False, and nothing found, if these are no stack or
/// too few.
/// This is for far fields on the CPU; a GPU sums in Chebyshev's polynomials
/// (bem/space/cuda/stacks.cuh).
bool find_stack_parts(std::span<const StripPiece> pieces, double side, double tolerance,
                      const StripPoints& points, fmm::SharedParts& shared);

}  // namespace fmbem
