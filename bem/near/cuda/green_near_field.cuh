#pragma once

#include <memory>

#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::cuda::bem {

/// The near field of V and K together, y_i = Σ scale V_ij σ_j + K_ij μ_j, of strengths [vectors][2]
/// [panels], charges first: both entries of a pair stand next to each other and are integrated in
/// one go. Else as make_stored_near_field(), but without transposed products.
template <class Entry>
std::unique_ptr<NearField> make_stored_green_near_field(const PanelStore& panels,
                                                        const SpreadTree& tree, double kappa,
                                                        double tolerance, cudaStream_t stream);
/// The same, lean: entries of pairs that are too close for a rule are stored, others are integrated
/// in every product, in that precision.
std::unique_ptr<NearField> make_lean_green_near_field(const PanelStore& panels,
                                                      const SpreadTree& tree, double kappa,
                                                      double tolerance, Precision precision,
                                                      cudaStream_t stream);

}  // namespace fmbem::cuda::bem
