#pragma once

#include <memory>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/cuda/pair_vectors.hpp"

namespace fmbem {

/// Preconditions an operator with two unknowns and rows for each panel by the inverses of the
/// panels' 2×2 blocks, on the GPU. No transposed products.
std::unique_ptr<ApproximateInverse> inverse_of_blocks(cuda::bem::PairBlocks inverse);

}  // namespace fmbem
