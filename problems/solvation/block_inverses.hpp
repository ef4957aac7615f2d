#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/cuda/pair_vectors.hpp"

namespace fmbem {

/// Preconditions an operator with two unknowns and rows for each panel by the inverses of the
/// panels' 2×2 blocks: by the operator's own blocks, on the CPU, or by such as are given, on the
/// GPU. No transposed products.
std::unique_ptr<ApproximateInverse> inverse_of_blocks(const BoundaryOperator& op);
std::unique_ptr<ApproximateInverse> inverse_of_blocks(cuda::bem::PairBlocks inverse);

}  // namespace fmbem
