#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// K' = A⁻¹ Kᵀ A, NormalRows::averaged, with A the panels' areas; or a block of it, from the
/// transposed block of K. Transposed products as well. Errors are those of K as it is applied to
/// densities times areas: ‖A(K̃'−K')x‖ ≤ tolerance ‖K‖ ‖A x‖.
std::shared_ptr<BoundaryOperator> make_averaged_flux(const Panels& panels,
                                                     std::shared_ptr<const BoundaryOperator> k,
                                                     const PanelBlock& block = {});

}  // namespace fmbem
