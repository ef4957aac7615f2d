#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// K' = A⁻¹ Kᵀ A, NormalRows::averaged, or a block of it from the transposed block of K, with its
/// transposed products; A are the panels' areas. Errors are those of K in what it multiplies,
/// densities times areas: ‖A(K̃'−K')x‖ ≤ tolerance ‖K‖ ‖A x‖.
std::shared_ptr<BoundaryOperator> make_averaged_flux(const Panels& panels,
                                                     std::shared_ptr<const BoundaryOperator> k,
                                                     const PanelBlock& block = {});

}  // namespace fmbem
