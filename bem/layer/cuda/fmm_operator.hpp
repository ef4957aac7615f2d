#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem::cuda::bem {

/// fmbem::make_fmm_operator() with everything in the memory of the current GPU: tree and moments,
/// the near field's entries (or the panels, from which they are integrated in every product) and
/// the preconditioner. Throws what that function throws, InputError without a usable GPU, and
/// ResourceError with the bytes needed and free where the GPU's memory does not suffice.
std::shared_ptr<BoundaryOperator> make_fmm_operator(const Panels& panels, const Layer& layer,
                                                    const OperatorOptions& options,
                                                    const PanelBlock& block = {});

}  // namespace fmbem::cuda::bem
