#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// K' by NormalRows::at_centroids and the FMM, K'_ij = n_i·∇_x ∫_{T_j} G at the centroid of panel
/// i, by a GreenOperator without dipoles. Transposed products as well. ‖(K̃'−K')x‖ ≤ tolerance ½
/// ‖x‖. Takes the options as GreenOperator does, and throws what that throws.
std::shared_ptr<BoundaryOperator> make_centroid_flux(const Panels& panels,
                                                     const OperatorOptions& options,
                                                     const PanelBlock& block = {});

}  // namespace fmbem
