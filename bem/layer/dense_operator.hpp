#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"

namespace fmbem {

/// Above this many panels the dense operator is refused: it would take over 12.8 GB.
inline constexpr std::size_t dense_panels_at_most = 40'000;

/// Throws InputError above dense_panels_at_most.
void refuse_large_dense_operator(std::size_t panels);

/// V, K or K' as a stored matrix, every entry integrated exactly: the oracle of the fast operators.
/// O(n²) memory and work. In single precision the entries are rounded to float (6e-8 relative);
/// sums stay in double. Tighter products then integrate the entries afresh; transposed ones do not,
/// and are refused.
std::shared_ptr<BoundaryOperator> make_dense_operator(const Panels& panels, const Layer& layer,
                                                      const OperatorOptions& options,
                                                      const PanelBlock& block = {});

}  // namespace fmbem
