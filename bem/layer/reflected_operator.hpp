#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// V, K or K' of panels before symmetry planes (`panels.images`): with n unknowns and rows, the
/// potential of the panels and their images,
///
///     y_i = Σ_j Σ_m s_m A(c_i, R_m T_j) x_j,
///
/// by the rows of the panels in the operator of the whole: it has the moments of all images and the
/// near and local fields of the panels alone. Errors are the tolerance times the whole's norm. For
/// make_boundary_operator(), on the CPU. Throws InputError for the GPU, and for panels in a mirror
/// plane that are columns of K or rows of K'.
std::shared_ptr<BoundaryOperator> make_reflected_operator(const Panels& panels, const Layer& layer,
                                                          const OperatorOptions& options,
                                                          const PanelBlock& block);

}  // namespace fmbem
